/** What one pass over a text found. Offsets are -1 when there is none. */
interface TextScan {
  readonly bytes: number;
  readonly control: number;
  readonly loneSurrogate: number;
}

/** Length in UTF-8 bytes. A lone surrogate counts 3, as the replacement character it would become. */
export function utf8Length(text: string): number {
  return scanText(text).bytes;
}

/** Counts UTF-8 bytes and finds the first control character and lone surrogate, in one pass. */
export function scanText(text: string): TextScan {
  let bytes = text.length;
  let control = -1;
  let loneSurrogate = -1;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) {
      if ((unit < 0x20 || unit === 0x7f) && control === -1) control = i;
    } else if (unit < 0x800) {
      bytes += 1;
      if (unit < 0xa0 && control === -1) control = i;
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes += 2;
    } else if (unit < 0xdc00 && isLowSurrogate(text.charCodeAt(i + 1))) {
      bytes += 2; // two code units already counted, four bytes in all
      i++;
    } else {
      bytes += 2;
      if (loneSurrogate === -1) loneSurrogate = i;
    }
  }
  return { bytes, control, loneSurrogate };
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff; // NaN past the end is neither
}
