/** Turns that compute less only wait. */
const WAITING_US = 1000

/**
 * The largest part, from 0 to 1, of what this thread computes while `work` runs that falls into one turn of the event loop. Both are
 * processor time of one run, so neither a busy nor a slow machine changes the part.
 */
export async function largestTurn(work: () => Promise<unknown>): Promise<number> {
  let [largest, total, isOver] = [0, 0, false]
  let before = process.threadCpuUsage()
  const working = work()
  const end = () => {
    isOver = true
  }
  working.then(end, end)
  while (!isOver) {
    await new Promise((done) => setImmediate(done))
    const { user, system } = process.threadCpuUsage(before)
    before = process.threadCpuUsage()
    if (user + system > WAITING_US) total += user + system
    largest = Math.max(largest, user + system)
  }
  await working
  return largest / total
}
