export type Progress = { add(n?: number): void; end(): void }

const WIDTH = 30
const REDRAW_MS = 100

/** A progress bar on standard error. Without a terminal only the final count is printed. */
export function progress(label: string, total: number | undefined, done = 0): Progress {
  const startedAt = performance.now()
  const initial = done
  let count = done
  let shownAt = 0
  const onTerminal = process.stderr.isTTY === true
  const show = () => {
    shownAt = performance.now()
    const rate = Math.round((count - initial) / Math.max(0.001, (shownAt - startedAt) / 1000))
    process.stderr.write(`\r\u001b[K${label} ${bar(count, total)} ${rate}/s`)
  }
  return {
    add(n = 1) {
      count += n
      if (onTerminal && performance.now() - shownAt > REDRAW_MS) show()
    },
    end() {
      if (onTerminal) show()
      if (onTerminal) process.stderr.write('\n')
      else
        console.error(
          `${label} ${count}${total === undefined ? '' : ` of ${total}`} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
        )
    },
  }
}

function bar(count: number, total: number | undefined) {
  if (!total) return String(count)
  const full = Math.min(WIDTH, Math.floor((WIDTH * count) / total))
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${count}/${total}`
}
