/** Whether the output matches the page. `…` matches anything within a line, or any lines if alone on a line. */
export function isText(shown: string, out: string) {
  const lines = trim(shown).split('\n')
  const pattern = lines.map((line) => (line === '…' ? '[\\s\\S]*?' : patternOf(line))).join('\n')
  return new RegExp(`^${pattern}$`).test(trim(out))
}

const trim = (text: string) => text.replace(/[ \t\r]+$/gm, '').trim()

const patternOf = (line: string) =>
  line
    .split('…')
    .map((part) => part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
    .join('[^\\n]*')

/** Whether a response contains everything that the page shows. It may contain more. */
export function isJson(shown: string, out: string) {
  return has(responseIn(out), JSON.parse(shown))
}

/** Parses the whole output, or its last line. */
function responseIn(out: string): unknown {
  for (const text of [out, out.trim().split('\n').at(-1) ?? ''])
    try {
      return JSON.parse(text)
    } catch {}
  return undefined
}

function has(response: unknown, shown: unknown): boolean {
  if (typeof shown === 'string') return typeof response === 'string' && new RegExp(`^${patternOf(shown)}$`).test(response)
  if (typeof shown !== 'object' || shown === null) return response === shown
  if (typeof response !== 'object' || response === null || Array.isArray(response) !== Array.isArray(shown)) return false
  if (Array.isArray(shown) && shown.length > 1 && shown.at(-1) === '…') return startsWith(response as unknown[], shown.slice(0, -1))
  if (Array.isArray(shown) && shown.length !== (response as unknown[]).length) return false
  return Object.entries(shown).every(([name, value]) => has((response as Record<string, unknown>)[name], value))
}

/** A list that ends with `…` shows the first entries only. */
const startsWith = (response: unknown[], shown: unknown[]) => response.length >= shown.length && has(response.slice(0, shown.length), shown)
