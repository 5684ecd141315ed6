import { readdirSync, readFileSync } from 'node:fs'

const TICK_MS = 10

type Stat = { pid: number; parent: number; own: number; ended: number }

/** Returns the CPU time of a process and its descendants in milliseconds, or NaN without /proc. */
export function cpuOf(pid: number) {
  const all = readStats()
  const self = all.find((one) => one.pid === pid)
  return self ? sumTree(self, all) : Number.NaN
}

const sumTree = ({ pid, own, ended }: Stat, all: Stat[]): number =>
  all.filter(({ parent }) => parent === pid).reduce((sum, child) => sum + sumTree(child, all), own + ended)

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
