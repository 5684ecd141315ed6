import { readdirSync, readFileSync } from 'node:fs'

const TICK_MS = 10

type Stat = { pid: number; parent: number; own: number; ended: number }

/** Returns the CPU time of a process and its descendants in milliseconds, or NaN without /proc. */
export function cpuOf(pid: number) {
  const tree = treeOf(pid)
  return tree.length ? tree.reduce((sum, { own, ended }) => sum + own + ended, 0) : Number.NaN
}

/** A process and its descendants. Empty without /proc. */
export function treeOf(pid: number) {
  const all = readStats()
  const children = Map.groupBy(all, ({ parent }) => parent)
  const below = (one: Stat): Stat[] => [one, ...(children.get(one.pid) ?? []).flatMap(below)]
  return all.filter((one) => one.pid === pid).flatMap(below)
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
