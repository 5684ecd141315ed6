import { readFileSync } from 'node:fs'
import type { processesOf } from '../test/support/process.ts'
import { treeOf } from './cpu.ts'

type Processes = Awaited<ReturnType<typeof processesOf>>

/** The memory of a process in MB, with its share of what it shares with others. NaN without /proc. */
function memoryOf(pid: number) {
  try {
    const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')) ?? []
    return Number(kilobytes) / 1024
  } catch {
    return Number.NaN
  }
}

/** The memory of a service: its sum, then each process. */
export function memoryLine(supervisor: number, processes: Processes) {
  const parts = [{ kind: 'supervisor', pid: supervisor }, ...processes].map(({ kind, pid }) => ({ kind, mb: memoryOf(pid) }))
  const sum = parts.reduce((sum, { mb }) => sum + mb, 0)
  return `${Math.round(sum)} MB PSS (${parts.map(({ kind, mb }) => `${kind} ${Math.round(mb)}`).join(', ')})`
}

/** The memory of a process and its descendants in MB. A process that has ended counts as nothing. */
export function treeMemory(pid: number) {
  const parts = treeOf(pid)
    .map((one) => memoryOf(one.pid))
    .filter(Number.isFinite)
  return parts.length ? parts.reduce((sum, mb) => sum + mb, 0) : Number.NaN
}
