import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deframer, frame } from '../../src/labs/hl7/mllp/rules-framing.ts'

const START = '\x0b'
const END = '\x1c\r'
const messagesIn = (chunks: string[], maxBytes = 1000) => {
  const { push } = deframer(maxBytes)
  return chunks.flatMap((chunk) => push(Buffer.from(chunk, 'latin1'))).map((message) => message.toString('latin1'))
}

test('any messages arrive whole, however the bytes are cut', () => {
  const messages = fc.array(
    fc.string({ unit: fc.constantFrom('M', '\r', '\x1c', 'x'), maxLength: 20 }).filter((text) => !`${text}\x1c`.includes(END)),
    { maxLength: 6 },
  )
  fc.assert(
    fc.property(messages, fc.array(fc.nat({ max: 150 }), { maxLength: 10 }), (messages, cuts) => {
      const bytes = Buffer.concat(messages.map((message) => frame(Buffer.from(message, 'latin1')))).toString('latin1')
      const positions = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
      const chunks = positions.slice(1).map((end, i) => bytes.slice(positions[i], end))
      expect(messagesIn(chunks)).toEqual(messages)
    }),
    { numRuns: 1000 },
  )
})

test.each([
  ['bytes before the frame', ['junk', `more${START}MSH${END}`], ['MSH']],
  ['bytes between frames', [`${START}A${END}junk${END}${START}B${END}`], ['A', 'B']],
  ['no start byte', [`MSH${END}`], []],
  ['an end byte without a carriage return', [`${START}a\x1cb${END}`], ['a\x1cb']],
  ['an end byte at the end of a chunk', [`${START}a\x1c`, '\r'], ['a']],
  ['an end byte at the end of a chunk that ends nothing', [`${START}a\x1c`, `b${END}`], ['a\x1cb']],
  ['a message that begins again', [`${START}cut${START}whole${END}`], ['whole']],
  ['a message that begins again in the next chunk', [`${START}cut`, `${START}${START}whole${END}`], ['whole']],
  ['a frame that does not end', [`${START}MSH|`], []],
])('handles %s', (_, chunks, messages) => {
  expect(messagesIn(chunks)).toEqual(messages)
})

test('rejects a message over the limit, and does not count bytes outside a frame', () => {
  expect(messagesIn(['x'.repeat(50), `${START}${'a'.repeat(10)}${END}`], 10)).toEqual(['a'.repeat(10)])
  expect(() => messagesIn([`${START}aaaaaa`, 'aaaaa'], 10)).toThrow('The message has more than 10 bytes.')
})
