import { createCanvas } from '@napi-rs/canvas'
import { BinaryBitmap, Code128Reader, DecodeHintType, HybridBinarizer, RGBLuminanceSource } from '@zxing/library'
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs'

const open = (pdf: Buffer) => getDocument({ data: new Uint8Array(pdf), verbosity: 0 }).promise

type Piece = { text: string; x: number; y: number; width: number }

/** The size and text pieces of each page; y grows upward. */
export async function pagesOf(pdf: Buffer) {
  const document = await open(pdf)
  const numbers = Array.from({ length: document.numPages }, (_, index) => index + 1)
  return Promise.all(
    numbers.map(async (number) => {
      const page = await document.getPage(number)
      const { items } = await page.getTextContent({ disableNormalization: true })
      const pieces = items.flatMap((item): Piece[] =>
        'str' in item && item.str.trim() ? [{ text: item.str, x: item.transform[4], y: item.transform[5], width: item.width }] : [],
      )
      const [, , width = 0, height = 0] = page.view
      return { width, height, pieces, text: pieces.map(({ text }) => text).join(' ') }
    }),
  )
}

export const textOf = async (pdf: Buffer) => (await pagesOf(pdf)).map(({ text }) => text).join(' ')

/** Reads the barcode of the first page, rendered at a scale in dots per point. */
export async function scan(pdf: Buffer, scale: number) {
  const page = await (await open(pdf)).getPage(1)
  const viewport = page.getViewport({ scale })
  const canvas = createCanvas(Math.ceil(viewport.width), Math.ceil(viewport.height))
  // The types of pdf.js require the canvas of a browser, but this one works too.
  await page.render({ canvas: canvas as never, viewport }).promise
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  const gray = Uint8ClampedArray.from({ length: canvas.width * canvas.height }, (_, index) => data[4 * index] ?? 0)
  const source = new RGBLuminanceSource(gray, canvas.width, canvas.height)
  return new Code128Reader().decode(new BinaryBitmap(new HybridBinarizer(source)), new Map([[DecodeHintType.TRY_HARDER, true]])).getText()
}
