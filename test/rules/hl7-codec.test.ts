import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { splitFile } from '../../src/labs/hl7/codec/rules-batch.ts'
import { charsets, decodeBytes, encodeText } from '../../src/labs/hl7/codec/rules-charset.ts'
import { delimitersOf } from '../../src/labs/hl7/codec/rules-delimiters.ts'
import { type Field, formatMessage, limits, type Message, parseMessage, type Segment } from '../../src/labs/hl7/codec/rules-message.ts'
import { partOf, readValue, segmentOf, segmentsOf, textOf } from '../../src/labs/hl7/codec/rules-read.ts'

const header = 'MSH|^~\\&|LAB|MAIN|ASSAY|ACC123|20260302093000-0600||ORU^R01^ORU_R01|L000045|P|2.5.1'
const errorOf = (text: string) => {
  try {
    parseMessage(text)
  } catch (error) {
    return (error as Error).message
  }
  return undefined
}

describe('parsing', () => {
  test.each([
    ['CR', '\r'],
    ['LF', '\n'],
    ['CRLF', '\r\n'],
  ])('segments can end with %s', (_, end) => {
    const { segments } = parseMessage([header, 'PID|1||U-1^^^ASSAY^PI||DOE^JANE', 'OBX|1|NM|2093-3||212', ''].join(end))
    expect(segments.map(({ name }) => name)).toEqual(['MSH', 'PID', 'OBX'])
    expect(readValue(segments[1], 5, 2)).toBe('JANE')
  })

  test('reads the delimiters from the message', () => {
    const { segments } = parseMessage('MSH#*!%@#LAB*1.2.3*ISO\rPID#1##U-1!U-2@A*x\rNTE#1##50%T%50 %F% 1')
    expect(readValue(segments[0], 3, 2)).toBe('1.2.3')
    expect(segments[1]?.fields[2]).toEqual([[['U-1']], [['U-2', 'A'], ['x']]])
    expect(readValue(segments[2], 3)).toBe('50@50 # 1')
  })

  test('counts the fields of MSH as HL7 does, and accepts a truncation character', () => {
    const { segments, delimiters } = parseMessage('MSH|^~\\&#|LAB|MAIN')
    expect([readValue(segments[0], 1), readValue(segments[0], 2), readValue(segments[0], 3)]).toEqual(['|', '^~\\&#', 'LAB'])
    expect(delimiters.truncation).toBe('#')
  })

  test('decodes escapes, and keeps an unknown one and a stray escaper character', () => {
    const value = (text: string) => readValue(parseMessage(`${header}\rNTE|1|L|${text}`).segments[1], 3)
    expect(value('Desirable <200 \\T\\ fasting')).toBe('Desirable <200 & fasting')
    expect(value('\\F\\\\S\\\\R\\\\E\\')).toBe('|^~\\')
    expect(value('one\\.br\\two\\X0D0A\\three')).toBe('one\ntwo\r\nthree')
    expect(value('NUL is\\X00\\ left\0 out')).toBe('NUL is left out')
    expect(value('\\H\\high\\N\\')).toBe('high')
    expect(value('\\Zlocal\\ 5\\6')).toBe('\\Zlocal\\ 5\\6')
    expect(value('\\T')).toBe('\\T')
  })

  test('keeps unknown segments, repetitions and fields past the known ones', () => {
    const { segments } = parseMessage(`${header}\rZPS|1|BN|Main lab^x\rOBX|1${'|'.repeat(60)}late`)
    expect(segments.map(({ name }) => name)).toEqual(['MSH', 'ZPS', 'OBX'])
    expect(readValue(segments[1], 3, 2)).toBe('x')
    expect(readValue(segments[2], 61)).toBe('late')
  })

  test('takes a line feed inside a segment as text', () => {
    const message = parseMessage(`${header}\rNTE|1|L|first line\nsecond | line\rOBX|1|NM`)
    expect(textOf(message.segments[1], 3, message.delimiters)).toBe('first line\nsecond')
    expect(message.segments.map(({ name }) => name)).toEqual(['MSH', 'NTE', 'OBX'])
  })

  test('reads two double quotes as no value', () => {
    expect(readValue(parseMessage(`${header}\rPID|1||""|x`).segments[1], 3)).toBe('')
  })

  test('finds segments by name', () => {
    const message = parseMessage(`${header}\rOBX|1\rOBX|2`)
    expect(segmentsOf(message, 'OBX').map((segment) => readValue(segment, 1))).toEqual(['1', '2'])
    expect([segmentOf(message, 'PID'), partOf(undefined, 1)]).toEqual([undefined, ''])
  })

  test.each([
    ['another first segment', 'PID|1', 'The message must begin with MSH.'],
    ['an empty text', '', 'The message must begin with MSH.'],
    ['too few encoding characters', 'MSH|^~|LAB', 'MSH-2 must have 4 or 5 characters.'],
    ['equal delimiters', 'MSH|^~\\^|LAB', 'The characters of MSH-1 and MSH-2 must differ.'],
    ['letters as delimiters', 'MSHA^~\\&ALAB', 'MSH-1 and MSH-2 must be ASCII punctuation.'],
    ['a line without a segment name', `${header}\rjust text`, 'Line 2 does not begin with the name of a segment.'],
    ['a header with other delimiters', `${header}\rMSH|*~\\&|LAB`, 'Line 2 is a second header.'],
  ])('rejects %s', (_, text, reason) => {
    expect(errorOf(text)).toBe(reason)
  })

  test.each([
    ['segments', header + '\rNTE'.repeat(limits.segments + 1)],
    ['line feeds', header + '\r\n\n\n'.repeat(limits.segments)],
    ['fields', `${header}\rOBX${'|'.repeat(limits.values + 1)}`],
    ['repetitions', `${header}\rOBX|1|${'~'.repeat(limits.values + 1)}`],
    ['components of many fields', `${header}\rOBX|${`${'^'.repeat(1000)}|`.repeat(limits.values / 1000)}`],
    ['escapes', `${header}\rNTE|1|L|${'\\T\\'.repeat(limits.escapes)}`],
    ['subcomponents', `${header}\rOBX|1|${'&'.repeat(limits.values + 1)}`],
  ])('rejects a message with too many %s', (_, text) => {
    expect(errorOf(text)).toMatch(/^The message has too many (segments|values|escapes)\.$/)
  })

  test('never repeats a value in the reason of a rejection', () => {
    for (const text of ['PID|DOE', `${header}\rDOE JANE`, 'MSH|DOE']) expect(errorOf(text)).not.toContain('DOE')
  })
})

describe('a file', () => {
  const one = `${header}\nPID|1\n`
  test.each([
    ['one message', one, 1],
    ['several messages', one + one, 2],
    ['a batch', `BHS|^~\\&|LAB\r\n${one}${one}BTS|2\r\n`, 2],
    ['batches in a file', `FHS|^~\\&|LAB\rBHS|^~\\&\r${one}BTS|1\rBHS|^~\\&\r${one}${one}BTS\rFTS|2`, 3],
    ['an empty batch', 'BHS|^~\\&\rBTS|0', 0],
  ])('can have %s', (_, text, count) => {
    const messages = splitFile(Buffer.from(text))
    expect(messages).toHaveLength(count)
    for (const message of messages) expect(parseMessage(message.toString()).segments.map(({ name }) => name)).toEqual(['MSH', 'PID'])
  })

  test.each([
    ['a message is missing', `BHS|^~\\&\r${one}BTS|2`, 'BTS-1 is 2, and the batch has 1 messages.'],
    ['the end of the batch is missing', `BHS|^~\\&\r${one}`, 'The file is not complete: BHS has no BTS.'],
    ['a batch begins before the end of another', `BHS|^~\\&\r${one}BHS|^~\\&\r${one}BTS|1`, 'The file is not complete: BHS has no BTS.'],
    ['the end of the file is missing', `FHS|^~\\&\r${one}`, 'The file is not complete: FHS has no FTS.'],
    ['a batch is missing', `FHS|^~\\&\rBHS|^~\\&\r${one}BTS|1\rFTS|2`, 'FTS-1 is 2, and the file has 1 batches.'],
    ['the start is missing', `|1|DOE\r${one}`, 'The file must begin with FHS, BHS or MSH.'],
    ['there is no message', 'hello', 'The file must begin with FHS, BHS or MSH.'],
  ])('is rejected if %s', (_, text, reason) => {
    expect(() => splitFile(Buffer.from(text))).toThrow(reason)
  })
})

describe('character sets', () => {
  const withCharset = (charset: string, name: string) => `${header}||||||${charset}\rPID|1||||${name}\r`
  const nameIn = (bytes: Buffer, fallback?: 'UNICODE UTF-8' | '8859/1') => {
    const { text, charset } = decodeBytes(bytes, fallback)
    return [readValue(parseMessage(text, charset).segments[1], 5), charset]
  }

  test.each([
    ['8859/1', 'latin1', '8859/1'],
    ['UNICODE UTF-8', 'utf8', 'UNICODE UTF-8'],
    ['UTF-8', 'utf8', 'UNICODE UTF-8'],
    ['8859/1~UNICODE UTF-8', 'latin1', '8859/1'],
  ] as const)('decodes %s', (declared, encoding, charset) => {
    expect(nameIn(Buffer.from(withCharset(declared, 'Müller'), encoding))).toEqual(['Müller', charset])
  })

  test('a message without MSH-18 uses the set of the lab', () => {
    expect(nameIn(Buffer.from(withCharset('', 'Müller'), 'latin1'), '8859/1')).toEqual(['Müller', '8859/1'])
    expect(nameIn(Buffer.from(withCharset('', 'Müller'), 'utf8'), 'UNICODE UTF-8')).toEqual(['Müller', 'UNICODE UTF-8'])
  })

  test('accents in a message that declares ASCII are UTF-8 or 8859/1', () => {
    expect(nameIn(Buffer.from(withCharset('ASCII', 'Müller'), 'latin1'))).toEqual(['Müller', '8859/1'])
    expect(nameIn(Buffer.from(withCharset('', 'Müller'), 'utf8'))).toEqual(['Müller', 'UNICODE UTF-8'])
    expect(nameIn(Buffer.from(withCharset('', 'Muller')))).toEqual(['Muller', 'ASCII'])
  })

  test('decodes hexadecimal escapes in the set of the message', () => {
    expect(nameIn(Buffer.from(withCharset('UNICODE UTF-8', 'M\\XC3BC\\ller')))).toEqual(['Müller', 'UNICODE UTF-8'])
    expect(nameIn(Buffer.from(withCharset('8859/1', 'M\\XFC\\ller')))).toEqual(['Müller', '8859/1'])
    expect(nameIn(Buffer.from(withCharset('UNICODE UTF-8', 'M\\XFC\\ller')))).toEqual(['M\\XFC\\ller', 'UNICODE UTF-8'])
  })

  test('rejects an unknown set, and bytes that are not valid in UTF-8', () => {
    expect(() => decodeBytes(Buffer.from(withCharset('ISO IR87', 'A')))).toThrow('MSH-18 must be one of')
    expect(() => decodeBytes(Buffer.from(withCharset('UNICODE UTF-8', 'Müller'), 'latin1'))).toThrow('not valid UTF-8')
  })

  test('writes a question mark for a character that the set lacks', () => {
    expect(encodeText('Müller 語 😀', 'ASCII').toString('latin1')).toBe('M?ller ? ?')
    expect(encodeText('Müller 語', '8859/1').toString('latin1')).toBe('Müller ?')
  })
})

const ends = fc.constantFrom('\r', '\r\n')
const punctuation = [...'!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~']
const delimiterSets = fc
  .uniqueArray(fc.constantFrom(...punctuation), { minLength: 5, maxLength: 6 })
  .map(([field = '', ...others]) => delimitersOf(field, others.join('')))

// A message has no NUL.
const texts = fc
  .oneof(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.string({ unit: 'binary-ascii', maxLength: 8 }))
  .map((text) => text.replaceAll('\0', ''))
const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { maxLength: 3 })
const fields: fc.Arbitrary<Field> = list(list(list(texts)))
const segments: fc.Arbitrary<Segment> = fc.record({
  name: fc.stringMatching(/^[A-Z][A-Z0-9]{2}$/),
  fields: fc.array(fields, { maxLength: 5 }),
})

const messages: fc.Arbitrary<Message> = fc
  .record({ delimiters: delimiterSets, rest: fc.array(segments, { maxLength: 5 }), more: fc.array(fields, { maxLength: 3 }) })
  .map(({ delimiters, rest, more }) => {
    const { field, component, repetition, escaper, subcomponent, truncation } = delimiters
    const declared: Field[] = [[[[field]]], [[[component + repetition + escaper + subcomponent + truncation]]]]
    const others = rest.filter(({ name }) => !['MSH', 'FHS', 'BHS'].includes(name))
    return { delimiters, segments: [{ name: 'MSH', fields: [...declared, ...more] }, ...others] }
  })

/** Leaves out empty parts at the end, which mean the same. */
const trim = <T>(part: T): T => {
  if (!Array.isArray(part)) return part
  const parts = part.map(trim)
  while (parts.length && parts.at(-1).length === 0) parts.pop()
  return parts as T
}

describe('for every message', () => {
  test('parsing what was built returns the message', () => {
    fc.assert(
      fc.property(messages, ends, fc.constantFrom(...charsets), (message, end, charset) => {
        const trimmed = message.segments.map(({ name, fields }) => ({ name, fields: trim(fields) }))
        const text = formatMessage(message, end)
        expect(parseMessage(text, charset)).toEqual({ delimiters: message.delimiters, segments: trimmed })
        expect(formatMessage({ ...message, segments: trimmed }, end)).toBe(text)
      }),
      { numRuns: 1000 },
    )
  })

  test('its bytes return the text in UTF-8', () => {
    fc.assert(
      fc.property(messages, (message) => {
        const text = formatMessage(message)
        expect(decodeBytes(encodeText(text, 'UNICODE UTF-8'), 'UNICODE UTF-8').text).toBe(text)
      }),
      { numRuns: 300 },
    )
  })

  test('any text is parsed or rejected with a reason', () => {
    const near = fc.string({ unit: fc.constantFrom(...'MSH|^~\\&PID\r\n1A'), maxLength: 200 })
    fc.assert(
      fc.property(
        fc.oneof(
          near,
          near.map((text) => `${header}\r${text}`),
        ),
        (text) => {
          const reason = errorOf(text)
          if (reason !== undefined) expect(reason).toMatch(/^(The message|MSH-|The characters|Line \d)/)
        },
      ),
      { numRuns: 2000 },
    )
  })
})
