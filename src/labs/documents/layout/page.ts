import { buffer } from 'node:stream/consumers'
import PDFDocument from 'pdfkit'
import { forgetGlyphs } from './fonts.ts'

type Size = [width: number, height: number]

export const mm = 72 / 25.4
export const letter: Size = [612, 792]

export type Page = {
  doc: PDFKit.PDFDocument
  left: number
  top: number
  width: number
  bottom: number
  /** The current position from the top of the page. */
  y: number
  /** Draws the table header again on each new page. */
  repeat: (() => void) | null
  /** Cache of measured text widths. */
  widths: Map<string, number>
}

/** `subject` goes into the file properties: an ID, never a person's name. */
type FileProperties = { title: string; subject: string; created_at: string }

export function openPage(properties: FileProperties, size = letter, margin = 48, footerHeight = 24): Page {
  forgetGlyphs()
  const doc = new PDFDocument({
    size,
    margin: 0,
    font: '',
    bufferPages: true,
    pdfVersion: '1.7',
    lang: 'en-US',
    displayTitle: true,
    info: {
      Title: properties.title,
      Subject: properties.subject,
      Producer: 'Assay',
      Creator: 'Assay',
      CreationDate: new Date(properties.created_at),
    },
  })
  const [width, height] = size
  const area = { left: margin, top: margin, width: width - 2 * margin, bottom: height - margin - footerHeight }
  return { doc, ...area, y: margin, repeat: null, widths: new Map() }
}

/** Returns the bytes. The footer is drawn last, because it names the page count. */
export function closePage(page: Page, drawFooter?: (number: number, pages: number) => void): Promise<Buffer> {
  const pages = page.doc.bufferedPageRange().count
  for (let index = 0; index < pages && drawFooter; index++) {
    page.doc.switchToPage(index)
    drawFooter(index + 1, pages)
  }
  page.doc.end()
  return buffer(page.doc)
}

function startPage(page: Page) {
  page.doc.addPage()
  page.y = page.top
  page.repeat?.()
}

/** Starts a new page unless this height is left; content taller than a page starts at the current position. */
export function keepTogether(page: Page, height: number) {
  const pageHeight = page.bottom - page.top
  if (page.y + height > page.bottom && page.y > page.top && height <= pageHeight) startPage(page)
}

export const rightEdge = (page: Page) => page.left + page.width
