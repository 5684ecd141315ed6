import { type Logger, pino } from 'pino'

/** Writes JSON lines to standard output. On a terminal it writes only warnings and errors, unless LOG_LEVEL is set. */
export const createLog = (config: { LOG_LEVEL?: string | undefined }): Logger =>
  pino(
    { level: config.LOG_LEVEL ?? (process.stdout.isTTY ? 'warn' : 'info'), base: null, timestamp: pino.stdTimeFunctions.isoTime },
    linesTogether(),
  )

/** A pipe takes up to 4 kB at once, so lines of several processes do not mix. */
const MAX_BATCH = 3 * 1024

/** Lines about requests wait this long for others. */
const SOON_MS = 20
/** How pino begins a line of the level info. */
const INFO = '{"level":30,'

/** Lines go out together, because a write per request costs a twentieth of the request. Warnings and errors go out in their own turn. */
function linesTogether() {
  const output = pino.destination({ fd: process.stdout.fd, sync: true })
  let lines = ''
  let timer: NodeJS.Timeout | undefined
  let isScheduled = false
  // The destination's own `flushSync` would also sync the file to disk.
  const flush = () => {
    clearTimeout(timer)
    timer = undefined
    isScheduled = false
    if (lines) output.write(lines)
    lines = ''
  }
  process.on('exit', flush)
  return {
    write(line: string) {
      lines += line
      if (lines.length >= MAX_BATCH) return flush()
      timer ??= setTimeout(flush, SOON_MS)
      if (isScheduled || line.startsWith(INFO)) return
      isScheduled = true
      setImmediate(flush)
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
