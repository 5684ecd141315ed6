/**
 * The most milliseconds that this thread computes in one turn of the event loop while `work` runs. They are time of a processor, so a
 * busy machine does not lengthen them.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, isOver] = [0, false]
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
    longest = Math.max(longest, (user + system) / 1000)
  }
  await working
  return longest
}
