import { describe, expect, test } from 'vitest'
import { openPdf } from '../../src/labs/report-parser/pdf/rules-file.ts'
import type { PageText } from '../../src/labs/report-parser/pdf/rules-text.ts'
import { parseFile } from '../../src/labs/report-parser/rules-parse.ts'
import { readReport } from '../../src/labs/report-parser/rules-report.ts'

// Quadratic work on any of these takes hours, and the test would not end.
describe('a file of 4 MB is read in linear time', () => {
  const SIZE = 4_000_000
  const fill = (text: string, size = SIZE) => text.repeat(size / text.length)
  const page = '1 0 obj\n<< /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Kids [3 0 R] >>\nendobj\n'
  const fails = (content: string) =>
    expect(parseFile(Buffer.from(`%PDF-1.4\n${content}`, 'latin1'))).toEqual({ failure: expect.any(String) })

  test('with half a million trailers, none of which ends', () => {
    fails(fill('trailer('))
  })

  test.each(['(', '<', '%'])('with a third of a million objects, each before a %s that does not end', (open) => {
    fails(fill(`1 0 obj<<>>${open}`))
  })

  test('with 50,000 compressed objects, each of which contains the next', () => {
    const count = 50_000
    const index = Array.from({ length: count }, (_, i) => `${i + 10} ${i * 80} `).join('')
    const objects = fill('('.padEnd(80))
    fails(`1 0 obj\n<< /Type /ObjStm /First ${index.length} >>\nstream\n${index}${objects}\nendstream\nendobj\n`)
  })

  test('with 100,000 fonts that share a map of characters', () => {
    const names = Array.from({ length: 100_000 }, (_, i) => `/f${i}`)
    const fonts = names.map((name) => `${name} 5 0 R`).join(' ')
    const content = names.map((name) => `${name} 1 Tf`).join(' ')
    const map = `5 0 obj << /ToUnicode 6 0 R >> endobj 6 0 obj <<>> stream\n%${fill('x')}\nendstream endobj `
    fails(`${page}3 0 obj << /Resources << /Font << ${fonts} >> >> /Contents 4 0 R >> endobj
      4 0 obj <<>> stream\n${content}\nendstream endobj ${map} trailer << /Root 1 0 R >>`)
  })

  test('with 600,000 ends of one blank text', () => {
    fails(`${page}3 0 obj << /Contents 4 0 R >> endobj 4 0 obj <<>> stream\nBT (${fill(' ', SIZE / 2)}) Tj ${fill('ET ', SIZE / 2)}
      endstream endobj trailer << /Root 1 0 R >>`)
  })
})

describe('a report is read in linear time', () => {
  const piece = (text: string, size: number, x: number, y: number) => ({ x, y, size, text })
  const labels = ['Patient', 'Specimen ID']
  const facts = [piece('Laboratory report', 11, 0, 900), ...labels.map((label, i) => piece(label, 7, i * 100, 800))]

  test('with a million labels', () => {
    const many = Array.from({ length: 1_000_000 }, (_, i) => piece(labels[i % 2] as string, 7, i, 700))
    expect(readReport([{ pieces: [...facts, ...many], hasImages: false }])).toMatchObject({ results: [] })
  })

  test('with a million lines on 50 pages', () => {
    const lines = Array.from({ length: 20_000 }, (_, i) => piece('A line', 9, 0, 700 - i))
    const pages = Array.from({ length: 50 }, (): PageText => ({ pieces: lines, hasImages: false }))
    expect(readReport([{ pieces: facts, hasImages: false }, ...pages])).toMatchObject({ results: [], unread: [] })
  })
})

test('compressed objects are found at their offsets, also those after an object that repeats', () => {
  const index = '10 0 11 4 12 4 13 8 '
  const objects = '(a) (b) << /Root 10 0 R >>'
  const file = openPdf(
    Buffer.from(`%PDF-1.4\n1 0 obj\n<< /Type /ObjStm /First ${index.length} >>\nstream\n${index}${objects}\nendstream\nendobj\n`),
  )
  expect([10, 11, 12, 13].map((ref) => file?.resolve({ ref }))).toEqual([
    'a',
    'b',
    undefined,
    { dictionary: new Map([['/Root', { ref: 10 }]]) },
  ])
  expect(file?.resolve(file.root)).toBe('a')
})
