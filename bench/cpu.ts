import { readdirSync, readFileSync } from 'node:fs'

const TICK_MS = 10

type Stat = { pid: number; parent: number; own: number; ended: number }

/** Returns the CPU time of a process and its children in milliseconds, or NaN without /proc. */
export function cpuOf(pid: number) {
  const all = readStats()
  const self = all.find((one) => one.pid === pid)
  if (!self) return Number.NaN
  const children = all.filter((one) => one.parent === pid)
  return [self, ...children].reduce((sum, { own, ended }) => sum + own + ended, 0)
}

const readStats = () =>
  listProcessFolders().flatMap((name): Stat[] => {
    const fields = fieldsOf(name)
    const ticks = (from: number) => (Number(fields[from]) + Number(fields[from + 1])) * TICK_MS
    return fields.length ? [{ pid: Number(name), parent: Number(fields[1]), own: ticks(11), ended: ticks(13) }] : []
  })

function listProcessFolders() {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  } catch {
    return []
  }
}

/** Parses after the command name, because the name may contain any character. */
function fieldsOf(pid: string) {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  } catch {
    return []
  }
}
