import { constants } from 'node:os'

/**
 * Stops the service on a signal. Until the service is up, a signal ends the process immediately. PID 1 of a container has no
 * default handler for it.
 */
export function onStopSignal(beforeExit: () => void = () => {}) {
  let stop = (signal: NodeJS.Signals): void => {
    beforeExit()
    process.exit(128 + constants.signals[signal])
  }
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop(signal))
  /** From now on, the first signal stops the service and further ones do nothing. */
  return (close: () => Promise<void>) => {
    stop = () => {
      stop = () => {}
      void close().then(
        () => {
          if (process.stdout.isTTY) console.log('Stopped.')
          process.exit(0)
        },
        () => process.exit(1),
      )
    }
    return () => stop('SIGTERM')
  }
}

/** Prints why the service does not start, in one line, and ends the process. */
export function exitWithReason(reason: { type: string; message: string }, json: boolean): never {
  console.error(json ? JSON.stringify({ error: reason }) : reason.message)
  process.exit(1)
}
