/** What to do about refusals, by how the scripts' texts begin. */
export const ADVICE: readonly (readonly [text: string, advice: string])[] = [
  ["EMQSTATE the job is active", "cancel it, or wait until it has ended"],
  ["EMQSTATE the job is not ", "getState tells where it stands now"],
  ["EMQSTATE the job is neither in line nor delayed", "getState tells where it stands now"],
  ["EMQSTATE the job is completed", "only a job that has not ended can be cancelled"],
  ["EMQSTATE the job is failed", "only a job that has not ended can be cancelled"],
  ["EMQSTATE the queue is closing: ", "call obliterate again to end it"],
  ["EMQSTATE jobs are active", "let them end, or call obliterate with force"],
  ["EMQSTATE the priority sequence", "call doctor with fix"],
  ["EMQMISSING no such job", "it was removed, or has ended and was not kept"],
  ["EMQMISSING the job is gone", "it was removed, or has ended and was not kept"],
  ["EMQSTALE no lease", "another run has the job, or will"],
  ["EMQSTALE the run holds no lease", "another run has the job, or will: end the handler"],
  ["EMQFULL the queue is full", "add it later, or raise the limit with setMaxLength"],
  ["EMQRETRY ", "what it was built on changed meanwhile: call it again"],
  ["EMQARG ", "the client and its scripts disagree: use packages of one release"],
  ["EMQFULL all 1024 node ids", "end idle processes; an id is free a minute after its process"],
];

/** What to do about a refusal, in a few words; undefined where its text says all there is. */
export function adviceFor(code: string, detail: string): string | undefined {
  const said = `${code} ${detail}`;
  return ADVICE.find(([text]) => said.startsWith(text))?.[1];
}
