import { code128 } from './code128.ts'
import type { Page } from './page.ts'
import { color } from './theme.ts'

type Area = { x: number; y: number; width: number; height: number }

/** In points. Narrower bars do not print reliably; wider bars waste space. */
const narrowest = 0.54
const widest = 1.4
const quietModules = 10

/** Draws the barcode centered in the area. False if the text does not fit as a readable barcode. */
export function drawBarcode(page: Page, text: string, area: Area) {
  const widths = code128(text) ?? []
  const modules = widths.reduce((sum, width) => sum + width, 2 * quietModules)
  const module = Math.min(widest, area.width / modules)
  if (!widths.length || module < narrowest) return false
  let x = area.x + (area.width - modules * module) / 2 + quietModules * module
  for (const [index, width] of widths.entries()) {
    if (index % 2 === 0) page.doc.rect(x, area.y, width * module, area.height)
    x += width * module
  }
  page.doc.fill(color.black)
  return true
}
