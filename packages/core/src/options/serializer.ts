import { EchoMQError, utf8Length } from "@echomq/wire";
import { fromJson, toJson } from "../job/payload.js";
import { messageOf, property, refuse, shown } from "./check.js";
import { PAYLOAD_MAX } from "./limits.js";

/** Writes payloads and results as text and reads them back. All who share a queue share the serializer. */
export interface Serializer {
  serialize(value: unknown): string;
  deserialize(text: string): unknown;
}

/** Payloads and results as text, checked on the way out. */
export interface Codec {
  /**
   * @throws ValidationError `VALIDATION` naming the option, where the value cannot be written or is
   * larger than `most` bytes.
   */
  write(option: string, value: unknown, most?: number): string;
  /** @throws EchoMQError `SERIALIZER` where the text cannot be read. */
  read(text: string): unknown;
}

/** JSON; what is no JSON is read as the text it is. */
export const JSON_CODEC: Codec = {
  write: (option, value, most) => sized(option, toJson(option, value), most),
  read: fromJson,
};

/** @throws ValidationError `VALIDATION` naming the option. */
export function codecOf(value: unknown): Codec {
  if (value === undefined) return JSON_CODEC;
  if (typeof value !== "object" || value === null) {
    return refuse("serializer", `must be an object, got ${shown(value)}`);
  }
  for (const name of ["serialize", "deserialize"]) {
    const method = property("serializer", value, name);
    if (typeof method !== "function")
      refuse(`serializer.${name}`, `must be a function, got ${shown(method)}`);
  }
  return new CustomCodec(value as Serializer);
}

class CustomCodec implements Codec {
  readonly #serializer: Serializer;

  constructor(serializer: Serializer) {
    this.#serializer = serializer;
  }

  write(option: string, value: unknown, most?: number): string {
    let text: unknown;
    try {
      text = this.#serializer.serialize(value);
    } catch (cause) {
      refuse(option, `cannot be serialised: ${messageOf(cause)}`);
    }
    // Empty text is how the wire says that there is no result.
    if (typeof text !== "string" || text === "") {
      return refuse(option, `the serializer must give text, got ${shown(text)}`);
    }
    if (!text.isWellFormed()) return refuse(option, "the serializer must give well-formed text");
    return sized(option, text, most);
  }

  read(text: string): unknown {
    try {
      return this.#serializer.deserialize(text);
    } catch (cause) {
      const message = `the serializer cannot read what is stored: ${messageOf(cause)}`;
      throw new EchoMQError({ code: "SERIALIZER", message, op: "deserialize", cause });
    }
  }
}

function sized(option: string, text: string, most = PAYLOAD_MAX): string {
  // A character has at most three bytes of UTF-8 for each unit of its string.
  if (text.length * 3 > most && utf8Length(text) > most) {
    refuse(option, `must be at most ${most} bytes, serialised, has ${utf8Length(text)}`);
  }
  return text;
}
