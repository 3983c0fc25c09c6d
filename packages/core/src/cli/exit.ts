/** Exit status of the command line: the highest of what its queues came to. */
export const EXIT: Readonly<Record<"clean" | "findings" | "trouble", number>> = {
  clean: 0,
  findings: 1,
  trouble: 2,
};
