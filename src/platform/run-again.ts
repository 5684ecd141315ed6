/** Runs work once at a time. A call while it runs makes it run once more. */
export function runAgain(work: () => Promise<void>) {
  let running: Promise<void> | undefined
  let isWanted = false

  function run() {
    isWanted = running !== undefined
    running ??= Promise.resolve()
      .then(work)
      .finally(() => {
        running = undefined
        if (isWanted) run()
      })
  }

  return { run, isRunning: () => running !== undefined }
}
