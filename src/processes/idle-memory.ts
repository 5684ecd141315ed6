import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { SECOND } from '../platform/time.ts'

const CHECK_EVERY_MS = 10 * SECOND
/** A process that uses less of a core than this is idle. */
const IDLE_SHARE = 0.05
/** A collection takes a tenth of a second, so it waits until the heap has grown by this much. */
const GROWTH_BYTES = 8 * 1024 * 1024

type Collect = (options: { type: 'major'; execution: 'sync'; flavor: 'last-resort' }) => void

/**
 * Returns memory to the system once the process is idle. Node keeps what the start or a burst needed, which is a third of its
 * memory, until the next large collection. An idle process does not reach one. A smaller heap would slow down a busy process instead.
 */
export function releaseMemoryWhenIdle() {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as Collect
  let cpu = process.cpuUsage()
  let collectedBytes = 0
  const timer = setInterval(() => {
    const { user, system } = process.cpuUsage(cpu)
    cpu = process.cpuUsage()
    const isIdle = (user + system) / 1000 < IDLE_SHARE * CHECK_EVERY_MS
    if (!isIdle || getHeapStatistics().total_physical_size < collectedBytes + GROWTH_BYTES) return
    collect({ type: 'major', execution: 'sync', flavor: 'last-resort' })
    collectedBytes = getHeapStatistics().total_physical_size
  }, CHECK_EVERY_MS)
  timer.unref()
}
