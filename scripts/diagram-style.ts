import { readFileSync } from 'node:fs'

const at = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

const sheet = at('src/http/docs/assets/diagram.css')

/** The site's style sheet for diagrams, with the console's colors written out, so that an SVG file also works alone. */
export const diagramStyle = () => colors() + sheet

/** The console's colors that the sheet uses, for light and for dark. */
function colors() {
  const tokens = at('console/src/style/tokens.css')
  const used = [...new Set([...sheet.matchAll(/var\((--[\w-]+)\)/g)].map(([, name]) => name as string))].sort()
  const value = (name: string) => new RegExp(`${name}: (.*);`).exec(tokens)?.[1] ?? ''
  const both = (name: string) => /^light-dark\((.+), (.+)\)$/.exec(value(name))?.slice(1) ?? [value(name)]
  const lines = (i: number) => used.flatMap((name) => (both(name)[i] ? [`${name}:${both(name)[i]}`] : [])).join(';')
  return `:root{${lines(0)}}\n@media (prefers-color-scheme:dark){:root{${lines(1)}}}\n`
}
