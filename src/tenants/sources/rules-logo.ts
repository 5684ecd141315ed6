import { createHash } from 'node:crypto'

/** Every color is dark enough for a white letter. */
const colors = ['#0b7285', '#364fc7', '#5f3dc4', '#862e9c', '#a61e4d', '#c92a2a', '#b34700', '#2b6a30', '#087f5b', '#495057']

const shapes = [
  '<circle cx="32" cy="32" r="30"/>',
  '<rect x="3" y="3" width="58" height="58" rx="16"/>',
  '<path d="M32 2 58 17v30L32 62 6 47V17z"/>',
  '<path d="M20 3h24l17 17v24L44 61H20L3 44V20z"/>',
]

/** Draws a neutral logo, the first letter on a shape, because the vendors own theirs. */
export function drawLogo(slug: string, name: string) {
  const [color = 0, shape = 0] = createHash('sha256').update(slug).digest()
  const letter = /[A-Z0-9]/i.exec(name)?.[0].toUpperCase() ?? '?'
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64" role="img" aria-label="${name.replace(/[<>&"]/g, '')}">`,
    `<g fill="${colors[color % colors.length]}">${shapes[shape % shapes.length]}</g>`,
    `<text x="32" y="43" text-anchor="middle" font-family="system-ui, sans-serif" font-size="32" font-weight="700" fill="#fff">${letter}</text>`,
    '</svg>',
  ].join('')
}
