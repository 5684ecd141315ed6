import { type Logger, pino } from 'pino'

/** Writes JSON lines to standard output. On a terminal it writes only warnings and errors, unless LOG_LEVEL is set. */
export const createLog = (config: { LOG_LEVEL?: string | undefined }): Logger =>
  pino(
    { level: config.LOG_LEVEL ?? (process.stdout.isTTY ? 'warn' : 'info'), base: null, timestamp: pino.stdTimeFunctions.isoTime },
    linesPerTurn(),
  )

/** A pipe takes up to 4 kB at once, so lines of several processes do not mix. */
const MAX_BATCH = 3 * 1024

/** Lines from one turn of the event loop go out in one write, because a write per request costs a twentieth of the request. */
function linesPerTurn() {
  const output = pino.destination({ fd: process.stdout.fd, sync: true })
  let lines = ''
  let isScheduled = false
  // The destination's own `flushSync` would also sync the file to disk.
  const flush = () => {
    if (lines) output.write(lines)
    lines = ''
  }
  process.on('exit', flush)
  return {
    write(line: string) {
      lines += line
      if (lines.length >= MAX_BATCH) flush()
      if (isScheduled) return
      isScheduled = true
      setImmediate(() => {
        isScheduled = false
        flush()
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
