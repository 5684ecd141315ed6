export type Progress = { add(n?: number): void; end(): void }

const WIDTH = 30
const EVERY_MS = 100

/** A progress bar on standard error. Without a terminal only the final count is printed. */
export function progress(what: string, total: number | undefined, done = 0): Progress {
  const begun = performance.now()
  const before = done
  let count = done
  let shownAt = 0
  const onTerminal = process.stderr.isTTY === true
  const show = () => {
    shownAt = performance.now()
    const rate = Math.round((count - before) / Math.max(0.001, (shownAt - begun) / 1000))
    process.stderr.write(`\r\u001b[K${what} ${bar(count, total)} ${rate}/s`)
  }
  return {
    add(n = 1) {
      count += n
      if (onTerminal && performance.now() - shownAt > EVERY_MS) show()
    },
    end() {
      if (onTerminal) show()
      if (onTerminal) process.stderr.write('\n')
      else
        console.error(
          `${what} ${count}${total === undefined ? '' : ` of ${total}`} in ${((performance.now() - begun) / 1000).toFixed(1)} s`,
        )
    },
  }
}

function bar(count: number, total: number | undefined) {
  if (!total) return String(count)
  const full = Math.min(WIDTH, Math.floor((WIDTH * count) / total))
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${count}/${total}`
}
