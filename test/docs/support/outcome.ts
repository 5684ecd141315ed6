/** Whether what came out is what the page shows; `…` in it stands for anything within a line, alone on a line for any lines. */
export function isText(shown: string, out: string) {
  const lines = trimmed(shown).split('\n')
  const pattern = lines.map((line) => (line === '…' ? '[\\s\\S]*?' : patternOf(line))).join('\n')
  return new RegExp(`^${pattern}$`).test(trimmed(out))
}

const trimmed = (text: string) => text.replace(/[ \t\r]+$/gm, '').trim()

const patternOf = (line: string) =>
  line
    .split('…')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('[^\\n]*')

/** Whether an answer has all that the page shows of it; it may have more. */
export function isJson(shown: string, out: string) {
  return has(answerIn(out), JSON.parse(shown))
}

/** The whole output, or the last line of it. */
function answerIn(out: string): unknown {
  for (const text of [out, out.trim().split('\n').at(-1) ?? ''])
    try {
      return JSON.parse(text)
    } catch {}
  return undefined
}

function has(answer: unknown, shown: unknown): boolean {
  if (typeof shown === 'string') return typeof answer === 'string' && new RegExp(`^${patternOf(shown)}$`).test(answer)
  if (typeof shown !== 'object' || shown === null) return answer === shown
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer) !== Array.isArray(shown)) return false
  if (Array.isArray(shown) && shown.length > 1 && shown.at(-1) === '…') return startsWith(answer as unknown[], shown.slice(0, -1))
  if (Array.isArray(shown) && shown.length !== (answer as unknown[]).length) return false
  return Object.entries(shown).every(([name, value]) => has((answer as Record<string, unknown>)[name], value))
}

/** A list that ends with `…` shows the first entries only. */
const startsWith = (answer: unknown[], shown: unknown[]) => answer.length >= shown.length && has(answer.slice(0, shown.length), shown)
