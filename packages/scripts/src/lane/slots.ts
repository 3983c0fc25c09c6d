import type { Arg, Reply } from "../driver/types.js";

export const SLOT_COUNT = 16_384;

/** Where a node of a cluster listens. */
export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** Slots `from` to `to` are served by the master at `address`. */
export interface SlotRange {
  readonly from: number;
  readonly to: number;
  readonly address: NodeAddress;
}

// CRC16-XMODEM, the polynomial of the cluster specification.
const CRC: Uint16Array = Uint16Array.from({ length: 256 }, (_, index) => {
  let crc = index << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** The slot of a key: the hash of its first non-empty `{tag}`, else of the whole key. */
export function keySlot(key: Arg): number {
  const bytes = typeof key === "string" ? Buffer.from(key) : key;
  const open = bytes.indexOf(0x7b);
  const close = open < 0 ? -1 : bytes.indexOf(0x7d, open + 1);
  const tagged = close > open + 1;
  const end = tagged ? close : bytes.length;
  let crc = 0;
  for (let i = tagged ? open + 1 : 0; i < end; i++) {
    crc = ((crc << 8) ^ (CRC[((crc >> 8) ^ (bytes[i] ?? 0)) & 0xff] ?? 0)) & 0xffff;
  }
  return crc % SLOT_COUNT;
}

/** Reads a reply of `CLUSTER SLOTS`; a node without a known host is the one that was asked. */
export function readSlots(reply: Reply, askedHost: string): SlotRange[] {
  const ranges: SlotRange[] = [];
  if (!Array.isArray(reply)) return ranges;
  for (const row of reply as readonly Reply[]) {
    if (!Array.isArray(row)) continue;
    const [from, to, master] = row as readonly Reply[];
    if (typeof from !== "number" || typeof to !== "number" || !Array.isArray(master)) continue;
    const [host, port] = master as readonly Reply[];
    if (typeof port !== "number") continue;
    const known = typeof host === "string" && host !== "" && host !== "?";
    ranges.push({ from, to, address: { host: known ? host : askedHost, port } });
  }
  return ranges;
}

/** Reads `MOVED 3999 host:port` or `ASK 3999 host:port`. */
export function readRedirect(
  text: string,
): { kind: "MOVED" | "ASK"; slot: number; host: string; port: number } | undefined {
  const match = /^(MOVED|ASK) (\d+) (.*):(\d+)$/.exec(text);
  if (match === null) return undefined;
  const [, kind, slot, host, port] = match;
  return {
    kind: kind === "ASK" ? "ASK" : "MOVED",
    slot: Number(slot),
    host: host ?? "",
    port: Number(port),
  };
}

/** Name of an address in tables and messages. */
export function addressName(address: NodeAddress): string {
  return `${address.host}:${address.port}`;
}
