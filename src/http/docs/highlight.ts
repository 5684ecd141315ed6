import { type Html, html } from '../../platform/html.ts'

const quoted = String.raw`"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'`
const number = String.raw`\b\d[\d_.]*\b`
const words = (text: string) => `\\b(?:${text.split(' ').join('|')})\\b`

const cStyle = (keywords: string) => ({
  comment: String.raw`\/\/.*|\/\*[\s\S]*?\*\/`,
  text: `\`[^\`]*\`|${quoted}`,
  number,
  word: words(keywords),
})

const ts = cStyle(
  'import from export const let function return if else for of in new await async try catch throw type typeof null true false undefined',
)

/** Covers comments, strings, numbers and keywords only, which is enough for short samples. */
const languages: Record<string, Record<string, string>> = {
  ts,
  js: ts,
  json: { text: quoted, number: `-?${number}`, word: words('true false null') },
  sh: { comment: String.raw`(?<=^|\s)#.*`, text: String.raw`'[^']*'|"(?:\\.|[^"\\])*"`, word: String.raw`\$\w+|\$\{[^}]*\}` },
  python: {
    comment: '#.*',
    text: `"""[\\s\\S]*?"""|${quoted}`,
    number,
    word: words(
      'import from def return if elif else for in while with as try except raise not and or is None True False lambda pass yield class',
    ),
  },
  go: cStyle(
    'package import func return if else for range var const type struct map nil true false defer go switch case error string byte',
  ),
}

const aliases: Record<string, string> = { bash: 'sh', shell: 'sh', typescript: 'ts', javascript: 'js', mjs: 'js', py: 'python' }

export function highlight(code: string, language = ''): Html {
  const kinds = languages[aliases[language] ?? language]
  if (!kinds) return html`${code}`
  const pattern = new RegExp(
    Object.entries(kinds)
      .map(([kind, source]) => `(?<${kind}>${source})`)
      .join('|'),
    'gm',
  )
  const pieces: Html[] = []
  let end = 0
  for (const match of code.matchAll(pattern)) {
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? []
    pieces.push(html`${code.slice(end, match.index)}<span class="hl-${kind}">${match[0]}</span>`)
    end = match.index + match[0].length
  }
  return html`${pieces}${code.slice(end)}`
}
