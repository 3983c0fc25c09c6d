/** Hash slots of a cluster. */
export const SLOT_COUNT = 16_384;

/** The hash slot of a key: CRC16 of its first non-empty `{tag}`, else of the whole key. */
export function slotOf(key: string): number {
  const bytes = Buffer.from(tagOf(key));
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
    }
  }
  return crc % SLOT_COUNT;
}

function tagOf(key: string): string {
  const open = key.indexOf("{");
  const close = open < 0 ? -1 : key.indexOf("}", open + 1);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}
