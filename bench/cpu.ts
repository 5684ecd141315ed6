import { readdirSync, readFileSync } from 'node:fs'

const TICK_MS = 10

type Stat = { pid: number; parent: number; own: number; ended: number }

/** Returns the CPU time of a process and its descendants in milliseconds, without those of `except`, or NaN without /proc. */
export function cpuOf(pid: number, except?: number) {
  const all = readStats()
  const self = all.find((one) => one.pid === pid)
  const children = Map.groupBy(all, (one) => one.parent)
  const sum = ({ pid, own, ended }: Stat): number =>
    pid === except ? 0 : own + ended + (children.get(pid) ?? []).reduce((total, child) => total + sum(child), 0)
  return self ? sum(self) : Number.NaN
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
