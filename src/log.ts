import { type Logger, pino } from 'pino'
import type { Config } from './config.ts'

/** Writes JSON lines to standard output. */
export const createLog = (config: Config): Logger => pino({ level: config.LOG_LEVEL, base: null, timestamp: pino.stdTimeFunctions.isoTime })

/** A stack without the driver's detail fields, which may quote a row. */
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
