import { safeError } from '../platform/log.ts'
import { Problem } from '../platform/problem.ts'

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
  const trouble = fileTrouble(error as NodeJS.ErrnoException)
  if (trouble) return { type: 'FILE', message: `The file cannot be written: ${trouble}` }
  return { type: 'UNEXPECTED', message: `Failed unexpectedly: ${JSON.stringify(safeError(error))}` }
}

const troubles: Record<string, string> = {
  ENOSPC: 'the disk is full; what is there of it is resumed or written anew by the same command',
  EDQUOT: 'the quota of the disk is used up',
  EROFS: 'the disk can only be read',
  EACCES: 'its folder does not let us',
  EPERM: 'its folder does not let us',
  ENOENT: 'there is no such folder',
  ENOTDIR: 'its folder is a file',
  EISDIR: 'there is a folder of this name',
}

/** Of a file that a command writes; what it reads is refused where it is read. */
const fileTrouble = ({ code = '', syscall = '' }: NodeJS.ErrnoException) =>
  ['open', 'write', 'rename', 'fsync'].includes(syscall) ? troubles[code] : undefined

const typeOf = (detail: unknown, fallback = 'REFUSED') => (detail as { error_type?: string } | undefined)?.error_type ?? fallback

type Fault = { loc?: unknown[]; msg?: string }

/** The `detail` of an answer, whichever of its shapes it has. */
export function textOf(detail: unknown): string {
  if (typeof detail === 'string') return detail
  if (Array.isArray(detail)) return detail.map(({ loc, msg }: Fault) => `${(loc ?? []).join('.')}: ${msg}`).join(' ')
  return (detail as { error_message?: string } | undefined)?.error_message ?? 'no reason given'
}
