import { type Logger, pino } from 'pino'

/** Writes JSON lines to standard output. On a terminal it writes only warnings and errors, unless LOG_LEVEL is set. */
export const createLog = (config: { LOG_LEVEL?: string | undefined }): Logger =>
  pino({ level: config.LOG_LEVEL ?? (process.stdout.isTTY ? 'warn' : 'info'), base: null, timestamp: pino.stdTimeFunctions.isoTime })

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
