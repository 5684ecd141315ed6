import { code128 } from './code128.ts'
import type { Page } from './page.ts'
import { color } from './theme.ts'

type Area = { x: number; y: number; width: number; height: number }

/** Points. Narrower bars are lost in print; wider ones only waste the label. */
const narrowest = 0.54
const widest = 1.4
const quietModules = 10

/** Draws the barcode in the middle of the area. False where the text cannot be written as one that a scanner would read. */
export function drawBarcode(paper: Page, text: string, area: Area) {
  const widths = code128(text) ?? []
  const modules = widths.reduce((sum, width) => sum + width, 2 * quietModules)
  const module = Math.min(widest, area.width / modules)
  if (!widths.length || module < narrowest) return false
  let x = area.x + (area.width - modules * module) / 2 + quietModules * module
  for (const [index, width] of widths.entries()) {
    if (index % 2 === 0) paper.doc.rect(x, area.y, width * module, area.height)
    x += width * module
  }
  paper.doc.fill(color.black)
  return true
}
