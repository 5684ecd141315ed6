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
  /** Where the next thing goes, from the top of the page. */
  y: number
  /** Drawn again at the top of each further page, such as the heads of a table. */
  repeat: (() => void) | null
  /** How wide texts are that were measured already. */
  widths: Map<string, number>
}

/** `subject` stands in the properties of the file: an id, never a person. */
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

/** The bytes. `foot` is drawn on every page, once their number is known. */
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

/** Turns the page unless this much height is left; what is taller than a page starts where it stands. */
export function keepTogether(paper: Page, height: number) {
  const whole = paper.bottom - paper.top
  if (paper.y + height > paper.bottom && paper.y > paper.top && height <= whole) turnPage(paper)
}

export const rightEdge = (paper: Page) => paper.left + paper.width
