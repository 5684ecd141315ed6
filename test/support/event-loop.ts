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

/**
 * The largest turn of the first of three runs that stays below `maxPart`, or of the last. Whatever else the process does, such as
 * collecting garbage, can only lengthen a turn.
 */
export async function smallestOfThree(maxPart: number, run: () => Promise<number>) {
  let part = await run()
  for (let n = 2; n <= 3 && part >= maxPart; n++) part = await run()
  return part
}
