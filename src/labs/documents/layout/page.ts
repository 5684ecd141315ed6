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

/** `subject` goes into the file properties: an id, never a person's name. */
export type About = { title: string; subject: string; created_at: string }

export function openPage(about: About, size = letter, margin = 48, foot = 24): Page {
  forgetGlyphs()
  const doc = new PDFDocument({
    size,
    margin: 0,
    font: '',
    bufferPages: true,
    pdfVersion: '1.7',
    lang: 'en-US',
    displayTitle: true,
    info: { Title: about.title, Subject: about.subject, Producer: 'Assay', Creator: 'Assay', CreationDate: new Date(about.created_at) },
  })
  const [width, height] = size
  const room = { left: margin, top: margin, width: width - 2 * margin, bottom: height - margin - foot }
  return { doc, ...room, y: margin, repeat: null, widths: new Map() }
}

/** Returns the bytes. `foot` is drawn on every page once the page count is known. */
export function closePage(paper: Page, foot?: (page: number, pages: number) => void): Promise<Buffer> {
  const pages = paper.doc.bufferedPageRange().count
  for (let page = 0; page < pages && foot; page++) {
    paper.doc.switchToPage(page)
    foot(page + 1, pages)
  }
  paper.doc.end()
  return buffer(paper.doc)
}

export function turnPage(paper: Page) {
  paper.doc.addPage()
  paper.y = paper.top
  paper.repeat?.()
}

/** Starts a new page unless this height is left; content taller than a page starts at the current position. */
export function keepTogether(paper: Page, height: number) {
  const whole = paper.bottom - paper.top
  if (paper.y + height > paper.bottom && paper.y > paper.top && height <= whole) turnPage(paper)
}

export const rightEdge = (paper: Page) => paper.left + paper.width
