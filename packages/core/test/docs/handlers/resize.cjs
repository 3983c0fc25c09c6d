module.exports = async (job, { signal }) => {
  await job.updateProgress(50);
  if (signal.aborted) return undefined;
  return { width: job.data.width / 2 };
};
