import { safeError } from '../log.ts'
import { Problem } from '../problem.ts'

type Reason = { type: string; message: string }

/** Why a command ended: what we refused, what the service refused, or that it did not answer; anything else without its values. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof Problem) return { type: typeOf(error.detail), message: error.message }
  const { status, detail, message, cause } = error as Error & { status?: number; detail?: unknown; cause?: { code?: string } }
  if (status !== undefined) return { type: typeOf(detail, String(status)), message: `${message}: ${textOf(detail)}` }
  if (message === 'fetch failed')
    return {
      type: 'UNREACHABLE',
      message: `The service does not answer (${cause?.code ?? 'no reason given'}): is it running where --url, ASSAY_URL or credentials.json say?`,
    }
  return { type: 'UNEXPECTED', message: `Failed unexpectedly: ${JSON.stringify(safeError(error))}` }
}

const typeOf = (detail: unknown, fallback = 'REFUSED') => (detail as { error_type?: string } | undefined)?.error_type ?? fallback

type Fault = { loc?: unknown[]; msg?: string }

/** The `detail` of an answer, whichever of its shapes it has. */
export function textOf(detail: unknown): string {
  if (typeof detail === 'string') return detail
  if (Array.isArray(detail)) return detail.map(({ loc, msg }: Fault) => `${(loc ?? []).join('.')}: ${msg}`).join(' ')
  return (detail as { error_message?: string } | undefined)?.error_message ?? 'no reason given'
}
