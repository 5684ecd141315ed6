import { safeError } from '../platform/log.ts'
import { Problem, reasonOfProblem } from '../platform/problem.ts'

type Reason = { type: string; message: string }

/** Why a command failed. Unexpected errors are reported without the values they contain. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof Problem) return reasonOfProblem(error)
  const { status, detail, message, cause } = error as Error & { status?: number; detail?: unknown; cause?: { code?: string } }
  if (status !== undefined) return { type: typeOf(detail, String(status)), message: `${message}: ${textOf(detail)}` }
  if (message === 'fetch failed')
    return {
      type: 'UNREACHABLE',
      message: `Cannot reach the service (${cause?.code ?? 'no reason given'}). Check that it is running at the URL in --url, ASSAY_URL or credentials.json.`,
    }
  const { code, syscall } = error as NodeJS.ErrnoException
  const fileError = fileErrorOf(error as NodeJS.ErrnoException)
  if (fileError) return { type: 'FILE', message: `The file cannot be written: ${fileError}` }
  if (syscall === 'listen') return { type: 'PORT', message: `The port is not available (${code}). Choose another one with --port.` }
  return { type: 'UNEXPECTED', message: `Failed unexpectedly: ${JSON.stringify(safeError(error))}` }
}

const fileErrors: Record<string, string> = {
  ENOSPC: 'the disk is full; free some space and run the command again',
  EDQUOT: 'the disk quota is used up',
  EROFS: 'the disk is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'the folder does not exist',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'a folder has this name',
}

/** Explains why a file could not be written. Commands report unreadable files themselves. */
const fileErrorOf = ({ code = '', syscall = '' }: NodeJS.ErrnoException) =>
  ['open', 'write', 'rename', 'fsync'].includes(syscall) ? fileErrors[code] : undefined

const typeOf = (detail: unknown, fallback = 'REFUSED') => (detail as { error_type?: string } | undefined)?.error_type ?? fallback

type Fault = { loc?: unknown[]; msg?: string }

/** The text of `detail`, in any of its formats. */
export function textOf(detail: unknown): string {
  if (typeof detail === 'string') return detail
  if (Array.isArray(detail)) return detail.map(({ loc, msg }: Fault) => `${(loc ?? []).join('.')}: ${msg}`).join(' ')
  return (detail as { error_message?: string } | undefined)?.error_message ?? 'no reason given'
}
