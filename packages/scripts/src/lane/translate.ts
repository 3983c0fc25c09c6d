import { addressName, type NodeAddress } from "./slots.js";

/** Reads a client's address map, an object or a function from `host:port` to an address. */
export function translator(map: unknown): (address: NodeAddress) => NodeAddress {
  return (address) => {
    const name = addressName(address);
    let target: unknown;
    if (typeof map === "function") target = map(name);
    else if (typeof map === "object" && map !== null) target = Reflect.get(map, name);
    return isAddress(target) ? { host: target.host, port: Number(target.port) } : address;
  };
}

function isAddress(value: unknown): value is NodeAddress {
  return typeof value === "object" && value !== null && "host" in value && "port" in value;
}
