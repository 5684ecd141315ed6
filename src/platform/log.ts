import { type Logger, pino } from 'pino'

/** Writes JSON lines to standard output. On a terminal it writes only warnings and errors, unless LOG_LEVEL is set. */
export const createLog = (config: { LOG_LEVEL?: string | undefined }): Logger =>
  pino(
    { level: config.LOG_LEVEL ?? (process.stdout.isTTY ? 'warn' : 'info'), base: null, timestamp: pino.stdTimeFunctions.isoTime },
    linesPerTurn(),
  )

/** Lines from one turn of the event loop go out in one write, because a write per request costs a twentieth of the request. */
function linesPerTurn() {
  // A pipe takes up to 4 kB at once, so lines of several processes do not mix.
  const output = pino.destination({ fd: process.stdout.fd, sync: true, minLength: 3 * 1024 })
  process.on('exit', () => output.flushSync())
  let isScheduled = false
  return {
    write(line: string) {
      output.write(line)
      if (isScheduled) return
      isScheduled = true
      setImmediate(() => {
        isScheduled = false
        output.flushSync()
      })
    },
  }
}

/** An error without the driver's detail fields, which may quote a row. */
export const safeError = (error: unknown) => {
  const { name, code, stack } = error as Error & { code?: string }
  return {
    name,
    code,
    at: stack
      ?.split('\n')
      .filter((line) => line.startsWith('    at '))
      .slice(0, 8),
  }
}
