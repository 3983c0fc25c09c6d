import { visible } from "@echomq/scripts/cli";
import type { MigrationError } from "../../errors.js";
import type { VerifyReport } from "../../phases/verify.js";

const SHOWN = 10;

/** The first differences a verification found, one a line. */
export function findingsOf({ reason, details }: MigrationError): string[] {
  if (reason !== "DIFFERENT") return [];
  const { first, differences } = details.report as VerifyReport;
  return [
    ...first
      .slice(0, SHOWN)
      .map(({ where, id, what }) => `  ${where} ${visible(id)}: ${visible(what)}`),
    ...(differences > SHOWN ? ["  …"] : []),
  ];
}
