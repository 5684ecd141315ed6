import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { formatMessage, type Message, parseMessage } from '../../src/labs/hl7/codec/rules-message.ts'
import { fieldOf, readValue, segmentOf, segmentsOf } from '../../src/labs/hl7/codec/rules-read.ts'
import { formatTime, parseDay, parseTime } from '../../src/labs/hl7/codec/rules-time.ts'
import { acknowledge, readAcknowledgment } from '../../src/labs/hl7/messages/rules-acknowledgment.ts'
import { readDocuments } from '../../src/labs/hl7/messages/rules-documents.ts'
import { messageProblems } from '../../src/labs/hl7/messages/rules-lengths.ts'
import { type Coverage, type OrderToSend, orderMessages } from '../../src/labs/hl7/messages/rules-order.ts'
import { readResults } from '../../src/labs/hl7/messages/rules-results.ts'
import { failureOfRejection } from '../../src/labs/hl7/messages/rules-statuses.ts'
import { checkProfile, extendProfile } from '../../src/labs/hl7/profiles/rules-check.ts'
import type { Profile } from '../../src/labs/hl7/profiles/rules-profile.ts'
import { sampleEnvelope, sampleOrder } from '../../src/labs/hl7/profiles/rules-sample.ts'
import { answersTo } from '../../src/labs/hl7/stand-in/rules-answers.ts'

const names = ['loi-lri-2.5.1', 'orm-2.3-grouped', 'orm-2.3-per-test'] as const
const fileOf = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../catalog/lab-profiles/${name}.json`, import.meta.url), 'utf8')) as Record<string, unknown>
const profileOf = (name: (typeof names)[number]) => checkProfile(fileOf(name)).profile as Profile
const [loi, grouped, perTest] = [profileOf('loi-lri-2.5.1'), profileOf('orm-2.3-grouped'), profileOf('orm-2.3-per-test')]

const ordered = (profile: Profile, changes: Partial<OrderToSend> = {}, action: 'NW' | 'CA' = 'NW') =>
  orderMessages({ profile, order: { ...sampleOrder, ...changes }, envelope: sampleEnvelope(action) })
const linesOf = (profile: Profile, changes?: Partial<OrderToSend>, action?: 'NW' | 'CA') =>
  ordered(profile, changes, action).map((message) => formatMessage(message).split('\r').slice(0, -1))

describe('the built-in profiles', () => {
  test.each(names)('%s is valid, and its messages fit the structure and can be read back', (name) => {
    expect(checkProfile(fileOf(name)).problems).toEqual([])
    for (const action of ['NW', 'CA'] as const)
      for (const message of ordered(profileOf(name), {}, action)) {
        expect(messageProblems(message)).toEqual([])
        expect(formatMessage(parseMessage(formatMessage(message)))).toBe(formatMessage(message))
      }
  })

  test('loi-lri-2.5.1 sends one OML^O21 per test, tied by ORC-4', () => {
    const messages = ordered(loi)
    expect(messages.map(({ segments }) => segments.map(({ name }) => name).join(' '))).toEqual([
      'MSH PID PV1 IN1 GT1 ORC TQ1 OBR DG1 OBX OBX SPM',
      'MSH PID PV1 IN1 GT1 ORC TQ1 OBR DG1 SPM',
    ])
    expect(messages.map((message) => readValue(segmentOf(message, 'ORC'), 2))).toEqual(['7K2M4Q9X3T1B-1', '7K2M4Q9X3T1B-2'])
    expect(messages.map((message) => readValue(segmentOf(message, 'ORC'), 4))).toEqual(['7K2M4Q9X3T1B', '7K2M4Q9X3T1B'])
    expect(new Set(messages.map((message) => readValue(segmentOf(message, 'MSH'), 10))).size).toBe(2)
    expect(linesOf(loi)[0]).toEqual([
      'MSH|^~\\&|ASSAY|ACC123|LAB|LAB|20260301111500-0500||OML^O21^OML_O21|A000000000000000101|T|2.5.1|||AL|AL||UNICODE UTF-8|||LOI_NG_PRN_Profile^^2.16.840.1.113883.9.88^ISO',
      "PID|1||c0a8f6e2-5b7d-4e19-9a3c-2f41d07be586^^^ASSAY^PI||O'Fernsby-Núñez^Zoë^^^^^L||19840229|F||2106-3^White^HL70005|12 Saltmarsh Lane^Apt 4^Austin^TX^78701^USA^H||^PRN^PH^^1^512^5550100|||||||||H^Hispanic or Latino^HL70189",
      'PV1|1|O',
      expect.stringMatching(
        /^IN1\|1\|TEAM-4F9C20A17B\|TEAM-4F9C20A17B\|Oakmeadow Mutual Health\|\|\|\|GRP77\|{8}O'Fernsby-Núñez\^Zoë\^\^\^\^\^L\|SEL\|19840229\|/,
      ),
      expect.stringMatching(/^GT1\|1\|\|O'Fernsby-Núñez\^Zoë.*\|\|19840229\|F\|\|SEL$/),
      'ORC|NW|7K2M4Q9X3T1B-1^ASSAY||7K2M4Q9X3T1B^ASSAY|||||20260301111500-0500|||1234567893^Smithson^Ada^^^^^^NPI&2.16.840.1.113883.4.6&ISO^L^^^NPI',
      'TQ1|1||||||||R',
      'OBR|1|7K2M4Q9X3T1B-1^ASSAY||24331-1^Lipid Panel^LN^QM10007^Lipid Panel^L|||20260301091500-0500||||||Fatigue \\T\\ dizziness \\F\\ since May|||1234567893^Smithson^Ada^^^^^^NPI&2.16.840.1.113883.4.6&ISO^L^^^NPI',
      'DG1|1||E11.22^Type 2 diabetes mellitus with diabetic chronic kidney disease^I10C|||W',
      'OBX|1|CWE|FASTING^Was the patient fasting?^L||Y^Yes^L||||||O|||20260301091500-0500|||||||||||||||SCI',
      'OBX|2|NM|WEIGHT^Weight in pounds^L||142||||||O|||20260301091500-0500|||||||||||||||SCI',
      'SPM|1|7K2M4Q9X3T1B||119364003^Serum^SCT|||||||||||||20260301091500-0500',
    ])
  })

  test('orm-2.3-grouped sends one ORC with an OBR per test, in upper-case ASCII', () => {
    expect(linesOf(grouped)).toEqual([
      [
        'MSH|^~\\&|ASSAY|ACC123|LAB|LAB|20260301111500||ORM^O01|7K2M4Q9X3T1B|T|2.3',
        "PID|1|M0J3P3IZWEIIBTMJ|M0J3P3IZWEIIBTMJ||O'FERNSBY-NUNEZ^ZOE||19840229|F|||12 Saltmarsh Lane^Apt 4^Austin^TX^78701||(512)555-0100",
        'PV1|1|O|||||1234567893^SMITHSON^ADA',
        expect.stringMatching(/^IN1\|1\|\|TEAM-4F9C20A17B\|.*\|W123456789\|{11}T$/),
        expect.stringMatching(/^GT1\|1\|\|O'FERNSBY-NUNEZ\^ZOE\|.*\|1$/),
        'ORC|NW|7K2M4Q9X3T1B|||||||20260301111500|||1234567893^SMITHSON^ADA||||||||4',
        'OBR|1|7K2M4Q9X3T1B||^^^QM10007^Lipid Panel|R||20260301091500|||||||||1234567893^SMITHSON^ADA||T',
        'DG1|1||E11.22^Type 2 diabetes mellitus with diabetic chronic ki^I10',
        'OBX|1|ST|FASTING^Was the patient fasting?||Y||||||F',
        'OBX|2|NM|WEIGHT^Weight in pounds||142||||||F',
        'OBX|3|ST|PR101^CLINICAL INFORMATION||Fatigue \\T\\ dizziness \\F\\ since May||||||F',
        'OBX|4|ST|PR300^SPECIMEN SOURCE||SERUM||||||F',
        'OBR|2|7K2M4Q9X3T1B||^^^QM10031^Hemoglobin A1c|R||20260301091500|||||||||1234567893^SMITHSON^ADA||T',
        'DG1|1||E11.22^Type 2 diabetes mellitus with diabetic chronic ki^I10',
        'OBX|1|ST|PR101^CLINICAL INFORMATION||Fatigue \\T\\ dizziness \\F\\ since May||||||F',
        'OBX|2|ST|PR300^SPECIMEN SOURCE||SERUM||||||F',
      ],
    ])
  })

  test('orm-2.3-per-test sends ORC and OBR per test, with the diagnoses before them', () => {
    expect(linesOf(perTest)).toEqual([
      [
        'MSH|^~\\&|ASSAY|ACC123|LAB|LAB|202603011115||ORM^O01|A000000000000000101|T|2.3',
        "PID|1|M0J3P3IZWEIIBTMJ|||O'FERNSBY-NUNEZ^ZOE||19840229|F||C|12 Saltmarsh Lane^Apt 4^Austin^TX^78701||5125550100|||||ACC123^^^T",
        expect.stringMatching(/^IN1\|1\|\|TEAM-4F9C20A17B\|.*\|W123456789$/),
        expect.stringMatching(/^GT1\|1\|\|O'FERNSBY-NUNEZ\^ZOE\|/),
        'DG1|1|I10|E11.22^^I10|Type 2 diabetes mellitus with diabetic c',
        'ORC|NW|7K2M4Q9X3T1B|||||||202603011115|||1234567893^SMITHSON^ADA^^^^^N',
        'OBR|1|7K2M4Q9X3T1B||QM10007^Lipid Panel^L|||202603010915||||N||Fatigue \\T\\ dizziness \\F\\ since May||SER&SERUM|1234567893^SMITHSON^ADA^^^^^N|||||||||||^^^^^R',
        'OBX|1|ST|FASTING^Was the patient fasting?||Y|||||N|F',
        'OBX|2|NM|WEIGHT^Weight in pounds||142|||||N|F',
        'ZCI||||Y',
        'ORC|NW|7K2M4Q9X3T1B|||||||202603011115|||1234567893^SMITHSON^ADA^^^^^N',
        'OBR|2|7K2M4Q9X3T1B||QM10031^Hemoglobin A1c^L|||202603010915||||N||Fatigue \\T\\ dizziness \\F\\ since May||SER&SERUM|1234567893^SMITHSON^ADA^^^^^N|||||||||||^^^^^R',
      ],
    ])
  })

  test('each test has its own diagnoses, or all come before the orders', () => {
    const [lipids, sugar] = sampleOrder.tests as [OrderToSend['tests'][number], OrderToSend['tests'][number]]
    const heart = { code: 'E78.5', text: null }
    const [diabetes] = sampleOrder.diagnoses as [OrderToSend['diagnoses'][number]]
    const changes = {
      tests: [
        { ...lipids, diagnoses: [heart] },
        { ...sugar, diagnoses: [diabetes, heart] },
      ],
      diagnoses: [diabetes, heart],
    }
    const codesOf = (profile: Profile) =>
      linesOf(profile, changes).flatMap((lines) =>
        lines.flatMap((line) => /^(OBR|DG1)\|(\d)\|[^|]*\|(?:([A-Z]\d[\d.]+))?/.exec(line)?.slice(1).join(' ').trim() ?? []),
      )
    expect(codesOf(grouped)).toEqual(['OBR 1', 'DG1 1 E78.5', 'OBR 2', 'DG1 1 E11.22', 'DG1 2 E78.5'])
    expect(codesOf(loi)).toEqual(['OBR 1', 'DG1 1 E78.5', 'OBR 1', 'DG1 1 E11.22', 'DG1 2 E78.5'])
    expect(codesOf(perTest)).toEqual(['DG1 1 E11.22', 'DG1 2 E78.5', 'OBR 1', 'OBR 2'])
  })

  test('a cancellation names the order and its tests, and nothing clinical', () => {
    const [message] = ordered(grouped, { filler_number: 'ACC-5567' }, 'CA')
    const { segments } = message as NonNullable<typeof message>
    expect(segments.map(({ name }) => name)).toEqual(['MSH', 'PID', 'PV1', 'ORC', 'OBR', 'OBR'])
    expect([1, 2, 3].map((field) => readValue(segments[3], field))).toEqual(['CA', '7K2M4Q9X3T1B', 'ACC-5567'])
    expect(readValue(segments[0], 10)).toBe('7K2M4Q9X3T1BC')
    expect(linesOf(perTest, {}, 'CA').flat().join()).not.toMatch(/Fatigue|E11|FASTING/)
  })

  test('writes the priority, the bill type and an advance beneficiary notice where the lab reads them', () => {
    const changes = { priority: true, has_abn: true, billing_type: 'client_bill', coverage: null } as const
    const firstOf = (profile: Profile) => ordered(profile, changes)[0] as Message
    const [inGrouped, inPerTest, inLoi] = [firstOf(grouped), firstOf(perTest), firstOf(loi)]
    expect([5, 18].map((field) => readValue(segmentOf(inGrouped, 'OBR'), field))).toEqual(['S', 'C'])
    expect([readValue(segmentOf(inGrouped, 'ORC'), 20), readValue(segmentOf(inGrouped, 'IN1'), 47)]).toEqual(['2', 'C'])
    expect(readValue(segmentOf(inPerTest, 'OBR'), 27, 6)).toBe('S')
    expect(readValue(segmentOf(inPerTest, 'PID'), 18, 4)).toBe('C')
    expect(readValue(segmentOf(inLoi, 'TQ1'), 9)).toBe('S')
    expect([inPerTest, inLoi].flatMap((message) => [...segmentsOf(message, 'IN1'), ...segmentsOf(message, 'GT1')])).toEqual([])
  })

  test.each(names)('%s writes a line break in formatted text as an escape, elsewhere as a space, and never as a question mark', (name) => {
    const breaks = ['one\ntwo', 'one\r\ntwo', 'one\rtwo', 'one\n\n two', 'one\ttwo', 'one\u2028two']
    for (const clinical_notes of breaks) {
      const inPlace = linesOf(profileOf(name), { clinical_notes }).flat().join('\n')
      expect(inPlace).toContain('|one two|')
      const inNotes = { ...profileOf(name), order: { ...profileOf(name).order, clinical_notes_in: 'NTE' as const } }
      const [note] = linesOf(inNotes, { clinical_notes })
        .flat()
        .filter((line) => line.startsWith('NTE'))
      expect(note).toBe(clinical_notes.includes('\t') ? 'NTE|1|P|one two' : 'NTE|1|P|one\\.br\\two')
      expect(inPlace + note).not.toMatch(/one\?|[\t\u2028]|\\X0[AD]/)
    }
    const patient = { ...sampleOrder.patient, last_name: 'Fernsby\nNunez' }
    expect(linesOf(profileOf(name), { patient }).flat().join('\n')).toMatch(/\|FERNSBY NUNEZ\^/i)
  })

  test('finds a field that is too long for the structure', () => {
    const [message] = ordered(grouped, { clinical_notes: null, number: 'A'.repeat(23) })
    expect(messageProblems(message as Message)).toContainEqual({ place: 'ORC-2', message: 'The field has more than 22 characters.' })
  })

  test.each([
    ['2.3', ['PID-2 16', 'PID-3 20', 'PID-4 12', 'IN1-8 12', 'IN1-36 15']],
    ['2.3.1', ['PID-2 20', 'PID-3 20', 'PID-4 20', 'IN1-8 12', 'IN1-36 15']],
    ['2.4', ['PID-2 20', 'PID-4 20', 'IN1-8 12', 'IN1-36 15']],
  ] as const)('%s has lengths of its own, which the realistic sample exceeds without the rules of a profile', (version, places) => {
    const patient = { ...grouped.patient, max_id: null, id_in: ['PID-2' as const, 'PID-3' as const, 'PID-4' as const] }
    const coverage = { ...(sampleOrder.coverage as Coverage), group_id: 'GROUP-0000077', member_id: 'W123456789012345' }
    const [message] = ordered({ ...grouped, version, patient }, { coverage })
    const found = messageProblems(message as Message).map(({ place, message }) => `${place} ${/\d+/.exec(message)?.[0]}`)
    expect(found).toEqual(places)
  })

  test('a long patient ID becomes a shorter one, which differs by patient; a payor code is left out of IN1-2 or cut in IN1-3', () => {
    const payor_code = 'Mutual & Provident Society of the Lower Saltmarsh Valleys and Harbors'
    const coverage = { ...(sampleOrder.coverage as Coverage), payor_code }
    const pidOf = (id: string) =>
      readValue(segmentOf(ordered(grouped, { patient: { ...sampleOrder.patient, id } })[0] as Message, 'PID'), 2)
    const ids = ['short', 'c0a8f6e2-5b7d-4e19-9a3c-2f41d07be586', 'c0a8f6e2-5b7d-4e19-9a3c-2f41d07be587'].map(pidOf)
    expect([ids[0], new Set(ids).size, ids.every((id) => id.length <= 16)]).toEqual(['short', 3, true])
    const [message] = ordered(grouped, { coverage })
    expect([2, 3].map((field) => readValue(segmentOf(message as Message, 'IN1'), field))).toEqual([
      ...['', 'Mutual & Provident Society of the Lower Saltmarsh Valleys'],
    ])
    expect(messageProblems(message as Message)).toEqual([])
  })
})

describe('a profile', () => {
  const problemsWith = (name: string, changes: unknown) =>
    checkProfile(extendProfile(fileOf(name), changes)).problems.map(({ path }) => path)

  test('can extend another: objects are merged, lists are replaced', () => {
    const changes = { name: 'quillmoor', message: { sending_application: 'CLINIC' }, patient: { id_in: ['PID-4'] } }
    const { profile } = checkProfile(extendProfile(fileOf('orm-2.3-grouped'), changes))
    expect(profile?.message).toEqual({ ...grouped.message, sending_application: 'CLINIC' })
    expect(profile?.patient.id_in).toEqual(['PID-4'])
  })

  test.each([
    ['an unknown field', 'loi-lri-2.5.1', { message: { sender: 'X' } }, 'message'],
    ['an unknown version', 'loi-lri-2.5.1', { version: '2.7' }, 'version'],
    ['an invalid zone', 'loi-lri-2.5.1', { time_zone: 'Phoenix' }, 'time_zone'],
    ['a separator in a header field', 'loi-lri-2.5.1', { message: { sending_application: 'A|B' } }, 'message.sending_application'],
    ['a place that is not a field', 'loi-lri-2.5.1', { results: { account_in: ['MSH'] } }, 'results.account_in.0'],
    ['two tests in one OML', 'loi-lri-2.5.1', { order: { grouping: 'orc_per_test' } }, 'order.grouping'],
    ['one number for several messages', 'loi-lri-2.5.1', { order: { number_per_test: false } }, 'order.number_per_test'],
    ['OML in 2.3', 'orm-2.3-grouped', { order: { message_type: 'OML^O21', grouping: 'message_per_test' } }, 'order.message_type'],
    ['SPM in ORM', 'orm-2.3-grouped', { order: { specimen_in: 'SPM' } }, 'order.specimen_in'],
    ['TQ1 in ORM', 'orm-2.3-grouped', { order: { priority: { in: 'TQ1-9' } } }, 'order.priority.in'],
    ['five encoding characters in 2.3', 'orm-2.3-grouped', { message: { encoding_characters: '^~\\&#' } }, 'message.encoding_characters'],
    ['OBX-23 in 2.3', 'orm-2.3-grouped', { results: { performing_lab_in: 'OBX-23' } }, 'results.performing_lab_in'],
    ['a bill type in an IN1 that is not sent', 'orm-2.3-grouped', { billing: { insurance: 'if_insured' } }, 'billing.type_in'],
  ])('is rejected with %s', (_, name, changes, path) => {
    expect(problemsWith(name, changes)).toContain(path)
  })
})

const resultOf = (...lines: string[]) => parseMessage(lines.join('\r'))
const oru = 'MSH|^~\\&|LAB|MAIN|ASSAY|ACC123|20260302093000-0600||ORU^R01^ORU_R01|L000045|P|2.5.1|||AL|NE'
const pid = 'PID|1||U-7f3a^^^ASSAY^PI||DOE^JANE^A^^^^L||19840229|F'
const obr = (status: string, rest = '') =>
  `OBR|1|ORD9-1^ASSAY|ACC-5567^LAB|24331-1^Lipid panel^LN^7600^LIPID PANEL^L|||20260301081500-0600|||||||20260301190000-0600||||||||20260302092500-0600||LAB|${status}${rest}`
const obx = (type: string, value: string, status = 'F', flags = '') =>
  `OBX|1|${type}|2093-3^Cholesterol^LN^001065^CHOLESTEROL, TOTAL^L||${value}|mg/dL^mg/dL^UCUM|100-199|${flags}|||${status}|||20260301081500-0600`
const groupsOf = (...lines: string[]) => readResults(resultOf(oru, pid, ...lines), loi).flatMap(({ groups }) => groups)
const observationOf = (...lines: string[]) => groupsOf(obr('F'), ...lines)[0]?.observations[0]

describe('reading results', () => {
  test('a message with a correction, a limit, a failed test, a PDF and a reflex test', () => {
    const message = resultOf(
      oru,
      pid,
      'NTE|1|L|Fasting specimen',
      'ORC|RE|ORD9-1^ASSAY|ACC-5567^LAB|ORD9^ASSAY|CM',
      obr('C'),
      'NTE|1|L|Panel note',
      `${obx('NM', '212', 'C', 'H')}|||||20260302090000-0600||||MAIN LAB^L^^^^CLIA&2.16.840.1.113883.4.7&ISO^XX^^^45D0494094|7777 FOREST LN^^DALLAS^TX^75230|^ROE^RICHARD`,
      'NTE|1|L|Desirable <200 \\T\\ fasting',
      'NTE|2|L|second line',
      'OBX|2|SN|13457-7^LDL calculated^LN^001370^LDL^L||<^10|mg/dL^mg/dL^UCUM|0-99|L|||F',
      'OBX|3|ST|2571-8^Triglyceride^LN^001172^TRIG^L||TNP||||||X',
      'NTE|1|L|Quantity not sufficient',
      'OBX|4|ED|PDF^Report^L||LAB^Application^PDF^Base64^JVBERi0xLjQK||||||F',
      'SPM|1|S-1^S-2||119364003^Serum^SCT|||||||||||||20260301081500-0600|20260301190000-0600|||QS^Quantity not sufficient^HL70490',
      'OBX|1|NM|3094-0^Volume^LN||2|mL|||||F',
      'ORC|RE||ACC-5567^LAB|ORD9^ASSAY|CM',
      'OBR|2||ACC-5567^LAB|18262-6^LDL direct^LN^120295^LDL DIRECT^L|||20260301081500-0600||||G|||||||||||20260302092500-0600||LAB|F|13457-7&LDL calculated&LN^^<10|||ORD9-1&ASSAY^ACC-5567&LAB',
      'OBX|1|NM|18262-6^LDL direct^LN^120295^LDL DIRECT^L||9.4|mg/dL^mg/dL^UCUM|0-99||||F',
    )
    const read = readResults(message, loi)
    expect(read).toMatchObject([
      {
        account: 'ACC123',
        patient: { ids: ['U-7f3a'], first_name: 'JANE', last_name: 'DOE', dob: '1984-02-29', sex: 'F' },
        notes: ['Fasting specimen'],
      },
    ])
    const [panel, reflex] = read[0]?.groups ?? []
    expect(panel).toMatchObject({
      order_number: 'ORD9',
      filler_number: 'ACC-5567',
      order_status: 'CM',
      code: { loinc: '24331-1', local: '7600', name: 'LIPID PANEL' },
      status: 'corrected',
      is_reflex: false,
      collected_at: '2026-03-01T14:15:00.000Z',
      received_at: '2026-03-02T01:00:00.000Z',
      reported_at: '2026-03-02T15:25:00.000Z',
      notes: ['Panel note'],
      specimens: [{ id: 'S-1', reject_code: 'QS', reject_text: 'Quantity not sufficient' }],
    })
    expect(panel?.observations).toHaveLength(3)
    expect(panel?.observations[0]).toEqual({
      code: { loinc: '2093-3', local: '001065', name: 'CHOLESTEROL, TOTAL' },
      sub_id: null,
      value: { type: 'numeric', text: '212', code: null },
      unit: { text: 'mg/dL', ucum: 'mg/dL' },
      reference_range: '100-199',
      flags: ['H'],
      interpretation: 'abnormal',
      status: 'corrected',
      status_code: 'C',
      observed_at: '2026-03-01T14:15:00.000Z',
      performing_lab: {
        name: 'MAIN LAB',
        clia_number: '45D0494094',
        address: { first_line: '7777 FOREST LN', second_line: null, city: 'DALLAS', state: 'TX', zip: '75230', country: 'USA' },
        phone_number: null,
        director: 'RICHARD ROE',
      },
      notes: ['Desirable <200 & fasting', 'second line'],
    })
    expect(panel?.observations[1]).toMatchObject({ value: { type: 'range', text: '<10' }, interpretation: 'abnormal' })
    expect(panel?.observations[2]).toMatchObject({ status: 'cancelled', value: { text: 'TNP' }, notes: ['Quantity not sufficient'] })
    expect(reflex).toMatchObject({ order_number: 'ORD9', is_reflex: true, status: 'final', observations: [{ value: { text: '9.4' } }] })
    expect(readDocuments(message, loi).map(({ bytes }) => bytes.toString())).toEqual(['%PDF-1.4\n'])
  })

  const byCode = (table: Record<string, string[]>) =>
    Object.entries(table).flatMap(([status, codes]) => codes.map((code) => ({ code, status })))

  test.each(
    byCode({
      pending: ['O', 'I', 'S', 'N'],
      partial: ['A', 'P', 'R', 'M'],
      final: ['F'],
      corrected: ['C'],
      cancelled: ['X'],
      unknown: ['Y', 'Z', 'Q', '', 'FF'],
    }),
  )('OBR-25 "$code" is $status', ({ code, status }) => {
    expect(groupsOf(obr(code))[0]).toMatchObject({ status, status_code: code })
  })

  test.each(
    byCode({
      preliminary: ['P', 'R', 'S', 'I'],
      final: ['F', 'U', 'V'],
      corrected: ['C', 'A', 'B'],
      deleted: ['D'],
      wrong_patient: ['W'],
      cancelled: ['X'],
      not_a_result: ['N', 'O'],
      unknown: ['Q', '', 'FINAL'],
    }),
  )('OBX-11 "$code" is $status', ({ code, status }) => {
    expect(observationOf(obx('NM', '1', code))).toMatchObject({ status, status_code: code })
  })

  test.each([
    ['NM', '4.40', { type: 'numeric', text: '4.40' }],
    ['ST', '<0.1', { type: 'range', text: '<0.1' }],
    ['ST', 'Clear', { type: 'comment', text: 'Clear' }],
    ['TX', '12', { type: 'comment', text: '12' }],
    ['FT', 'one\\.br\\two', { type: 'comment', text: 'one\ntwo' }],
    ['SN', '>^100', { type: 'range', text: '>100' }],
    ['SN', '^7.2', { type: 'numeric', text: '7.2' }],
    ['SN', '=^7.2', { type: 'numeric', text: '7.2' }],
    ['SN', '^2^-^4', { type: 'range', text: '2-4' }],
    ['SN', '^1^:^128', { type: 'comment', text: '1:128' }],
    ['CE', '260385009^Negative^SCT', { type: 'coded_value', text: 'Negative', code: '260385009' }],
    ['CWE', '^^^NEG^Negative^L', { type: 'coded_value', text: 'Negative', code: 'NEG' }],
    ['CWE', '^^^^^^^^as written', { type: 'coded_value', text: 'as written', code: null }],
    ['ST', 'see note ^ below', { type: 'comment', text: 'see note ^ below' }],
  ])('reads the value type %s: %s', (type, value, read) => {
    expect(observationOf(obx(type, value))?.value).toMatchObject(read)
  })

  test.each(['', '""'])('reads no value from %j', (value) => {
    expect(observationOf(obx('NM', value))?.value).toBeNull()
  })

  test.each([
    ['N', 'normal'],
    ...['L', 'H', 'LU', 'HU', 'A', '<', '>', 'LX', 'HX'].map((flag) => [flag, 'abnormal']),
    ...['POS', 'DET', 'RR', 'WR', 'TOX', 'R', 'I', 'MS', 'NS', 'SDD', 'SYN-R', 'pos', 'N~POS'].map((flag) => [flag, 'abnormal']),
    ...['LL', 'HH', 'AA', 'A~HH', 'POS~AA'].map((flag) => [flag, 'critical']),
    ...['', 'NEG', 'NR', 'ND', 'S', 'IND', 'IE', 'U', 'D', 'B', 'W', 'HM', 'QCF', '?'].map((flag) => [flag, null]),
  ])('the flag %j is %s: the worst one counts', (flags, interpretation) => {
    expect(observationOf(obx('NM', '1', 'F', flags as string))?.interpretation).toBe(interpretation)
  })

  test('lines of text with the same code are one text, as final as its least final line', () => {
    const observations = groupsOf(obr('F'), obx('TX', 'first'), obx('TX', 'second', 'P'), obx('TX', 'third'), obx('NM', '1'))[0]
      ?.observations
    expect(observations).toMatchObject([{ value: { text: 'first\nsecond\nthird' }, status: 'preliminary' }, { value: { text: '1' } }])
  })

  test('reads the performing lab of OBX-15 from ZPS', () => {
    const [read] = readResults(
      resultOf(
        'MSH|^~\\&|LCS|LCA|ASSAY|ACC123|202603020930||ORU^R01|L1|P|2.3',
        'PID|1|U-1|SPEC1||DOE^JANE||19840229|F|||||||||ACC123^^^T',
        'OBR|1|ORD9|0123456|322000^COMP METABOLIC^L|||202603010815|||||||202603011900||||||||202603020925||0|F',
        'OBX|1|NM|001032^GLUCOSE^L||91|mg/dL|65-99|N|||F|||202603020925|BN',
        'ZPS|1|BN|LABCO BURLINGTON|1447 YORK CT^^BURLINGTON^NC^27215|8005550100||HARRY^J^MD||34D0655059',
      ),
      perTest,
    )
    expect(read?.account).toBe('ACC123')
    expect(read?.groups[0]).toMatchObject({ order_number: 'ORD9', collected_at: '2026-03-01T13:15:00.000Z', code: { local: '322000' } })
    expect(read?.groups[0]?.observations[0]).toMatchObject({
      code: { loinc: null, local: '001032' },
      unit: { text: 'mg/dL', ucum: null },
      performing_lab: { name: 'LABCO BURLINGTON', clia_number: '34D0655059', phone_number: '8005550100' },
    })
  })

  test('keeps the results of several patients apart', () => {
    const other = 'PID|2||U-2||ROE^RICHARD||19700101|M'
    const read = readResults(resultOf(oru, pid, obr('F'), obx('NM', '1'), other, 'NTE|1|L|his note', obr('P'), obx('NM', '2')), loi)
    const summary = read.map(({ patient, notes, groups }) => [
      patient.ids,
      notes,
      groups.map((group) => group.observations[0]?.value?.text),
    ])
    expect(summary).toEqual([
      [['U-7f3a'], [], ['1']],
      [['U-2'], ['his note'], ['2']],
    ])
  })

  test('results without a PID have no patient, and a message can have no results', () => {
    expect(readResults(resultOf(oru, obr('F')), loi)).toMatchObject([{ patient: { ids: [], last_name: '', dob: null } }])
    expect(readResults(resultOf(oru), loi)).toEqual([])
  })

  test('is read in linear time, however many patients, tests and shared segments it has', () => {
    // Quadratic work would take hours.
    const COUNT = 100_000
    const named = (name: (i: number) => string) => Array.from({ length: COUNT }, (_, i) => ({ name: name(i), fields: [] }))
    const message = resultOf(oru)
    const read = (segments: Message['segments']) => readResults({ ...message, segments: message.segments.concat(segments) }, loi)
    const shared = named((i) => `Z${i}`)
    expect(read([...shared, ...named(() => 'PID')])).toHaveLength(COUNT)
    expect(read([{ name: 'PID', fields: [] }, ...shared, ...named(() => 'OBR')])[0]?.groups).toHaveLength(COUNT)
  })

  test('reads a status message: an ORC without an OBR', () => {
    expect(groupsOf('ORC|SC|ORD9-1|ACC-5567|ORD9|IP', 'ORC|SC|ORD8-1|ACC-5568|ORD8|CA')).toMatchObject([
      { order_control: 'SC', order_status: 'IP', order_number: 'ORD9', observations: [], status: 'unknown' },
      { order_control: 'SC', order_status: 'CA', order_number: 'ORD8', observations: [], status: 'unknown' },
    ])
  })

  test('joins a PDF that a lab split, and keeps what is not a PDF', () => {
    const base64 = Buffer.from(`%PDF-1.7\n${'x'.repeat(200)}`).toString('base64')
    const part = (data: string, name = 'PDF') => `OBX|1|ED|${name}^Report^L||LAB^Application^PDF^Base64^${data}||||||F`
    const message = resultOf(
      oru,
      pid,
      obr('F'),
      part(`${base64.slice(0, 80)}\\.br\\${base64.slice(80, 120)}~LAB^Application^PDF^Base64^ ${base64.slice(120, 160)}`),
      part(base64.slice(160)),
      part(Buffer.from('<html>').toString('base64'), 'PAGE'),
      `ZEF|1|${Buffer.from('%PDF-1.4').toString('base64')}`,
    )
    expect(readDocuments(message, loi).map(({ bytes }) => bytes.length)).toEqual([209, 6])
    expect(readDocuments(message, grouped).map(({ bytes }) => bytes.toString().slice(0, 8))).toEqual(['%PDF-1.7', '<html>', '%PDF-1.4'])
  })

  const ed = (data: string, type = '^^', { code = 'D', status = 'F' } = {}) => `OBX|1|ED|${code}^D^L||LAB^${type}^${data}||||||${status}`
  const documentsOf = (...lines: string[]) =>
    readDocuments(resultOf(oru, pid, obr('F'), ...lines), loi).map(({ bytes }) => bytes.toString('latin1'))
  const base64Of = (text: string) => Buffer.from(text, 'latin1').toString('base64')
  const sentence = 'No growth after 48 hours.'

  test.each([
    ['No growth after 48 hours', '^^', 'No growth after 48 hours'],
    ['No growth after 48 hours', '^^Base64', 'No growth after 48 hours'],
    ['Negative', '^^', 'Negative'],
    ['Positive', '^^A', 'Positive'],
    [`${base64Of(sentence)}-`, '^^Base64', `${base64Of(sentence)}-`],
    [base64Of(sentence).slice(0, -1), '^^Base64', base64Of(sentence).slice(0, -1)],
    [base64Of(sentence), '^^Base64', sentence],
    [base64Of(sentence), '^^', sentence],
    [`${base64Of(sentence).slice(0, 10)}\\.br\\ ${base64Of(sentence).slice(10)}`, '^^Base64', sentence],
    [base64Of('{\\rtf1 }'), '^^', '{\\rtf1 }'],
    [
      `${base64Of(sentence).slice(0, 10)} ${base64Of(sentence).slice(10)}`,
      '^^Base64',
      `${base64Of(sentence).slice(0, 10)} ${base64Of(sentence).slice(10)}`,
    ],
    ['Tm8_Tm8-', '^^Base64', 'Tm8_Tm8-'],
    ['Tm8=Tm8=', '^^Base64', 'Tm8=Tm8='],
    ['4e6f', '^^Hex', 'No'],
    ['4e6', '^^Hex', '4e6'],
    ['No growth', '^^Hex', 'No growth'],
  ])('decodes a document only if it is what it says: %s as %s', (data, type, text) => {
    expect(documentsOf(ed(data, type))).toEqual([text])
  })

  test('documents of one code are apart if their format changes, and parts are joined before they are decoded', () => {
    const pdf = '%PDF-1.4\nxxx'
    expect(pdf.length % 3).toBe(0)
    const [application, text] = ['Application^PDF^Base64', 'TEXT^PLAIN^Base64']
    expect(documentsOf(ed(base64Of(pdf), application), ed(base64Of(sentence), text))).toEqual([pdf, sentence])
    expect(documentsOf(ed(base64Of(pdf), application), ed(sentence, 'Application^PDF^A'))).toEqual([pdf, sentence])
    const [start, end] = [base64Of(sentence).slice(0, 7), base64Of(sentence).slice(7)]
    expect(documentsOf(ed(start, text), ed(end, text))).toEqual([sentence])
    expect(documentsOf(ed(start, text), ed(end))).toEqual([sentence])
  })

  test.each([
    ['W', 'wrong_patient'],
    ['D', 'deleted'],
  ])('a document with OBX-11 %s is not filed, and its result is %s', (code, status) => {
    const lines = [ed(base64Of('%PDF-1.4'), 'Application^PDF^Base64', { status: code }), ed(base64Of(sentence), 'TEXT^PLAIN^Base64')]
    expect(documentsOf(...lines)).toEqual([sentence])
    const [group] = groupsOf(obr('F'), ...lines)
    expect(group?.observations).toMatchObject([{ code: { local: 'D', name: 'D' }, status, value: null }])
    expect(group?.documents).toHaveLength(1)
  })

  test('maps the reason of a rejected specimen to a failure', () => {
    expect(['QS', 'RH', 'EX', 'RD', '??'].map(failureOfRejection)).toEqual([
      ...['quantity_not_sufficient_failure', 'collection_process_failure', 'drop_off_failure', 'order_entry_failure', 'unknown_failure'],
    ])
  })
})

describe('times', () => {
  test.each([
    ['20260301', 'America/Phoenix', '2026-03-01T07:00:00.000Z'],
    ['202603010930', 'America/New_York', '2026-03-01T14:30:00.000Z'],
    ['20260701093000.1234', 'America/New_York', '2026-07-01T13:30:00.123Z'],
    ['20260301093000-0500', 'America/Phoenix', '2026-03-01T14:30:00.000Z'],
    ['2026', 'UTC', '2026-01-01T00:00:00.000Z'],
    // Clocks go back at 2:00; the first 1:30 counts. Clocks go forward at 2:00; 2:30 does not exist.
    ['20261101013000', 'America/New_York', '2026-11-01T05:30:00.000Z'],
    ['20260308023000', 'America/New_York', '2026-03-08T07:30:00.000Z'],
  ])('%s in %s is %s', (text, zone, instant) => {
    expect(parseTime(text, zone)).toBe(instant)
  })

  test.each(['', 'yesterday', '20260230', '2026030125', '20261301', '20260301093000+9999x'])('%j is not a time', (text) => {
    expect(parseTime(text, 'UTC')).toBeNull()
  })

  test('writes local time with the precision of the lab', () => {
    expect(formatTime('2026-07-01T13:30:45.678Z', 'America/New_York', { precision: 'second', offset: true })).toBe('20260701093045-0400')
    expect(formatTime('2026-07-01T13:30:45.678Z', 'Asia/Kolkata', { precision: 'minute', offset: true })).toBe('202607011900+0530')
    expect(formatTime('2026-07-01T13:30:45.678Z', 'UTC', { precision: 'minute', offset: false })).toBe('202607011330')
  })

  test('reads a birth date as it is written', () => {
    expect(['19840229', '198402290000', '1984', '19830229', ''].map(parseDay)).toEqual(['1984-02-29', '1984-02-29', null, null, null])
  })
})

describe('acknowledgments', () => {
  const sent_at = '2026-03-02T15:30:01.000Z'

  test('answer in the version of the message, with sender and receiver exchanged', () => {
    const text = formatMessage(acknowledge(resultOf(oru, pid), { code: 'AA', control_id: 'A102', sent_at }))
    expect(text).toBe('MSH|^~\\&|ASSAY|ACC123|LAB|MAIN|20260302153001+0000||ACK^R01^ACK|A102|P|2.5.1\rMSA|AA|L000045\r')
  })

  test('name the error as each version does', () => {
    const problem = { code: '202', text: 'MSH-11 must be P.' }
    const answer = (message: string) => acknowledge(resultOf(message), { code: 'AR', control_id: 'A1', sent_at, problem })
    const lines = (message: string) => formatMessage(answer(message)).split('\r').slice(1, 3)
    expect(lines(oru)).toEqual(['MSA|AR|L000045|MSH-11 must be P.', 'ERR|||202^^HL70357|E||||MSH-11 must be P.'])
    const old = 'MSH#*!%@#LCS#LCA#ASSAY#ACC#2026##ORU*R01#L1#T#2.3'
    expect(lines(old)).toEqual(['MSA#AR#L1#MSH-11 must be P.', 'ERR#***202@MSH-11 must be P.@HL70357'])
    for (const message of [oru, old])
      expect(readAcknowledgment(answer(message))).toMatchObject({ code: 'AR', text: 'MSH-11 must be P.', error_codes: ['202'] })
  })

  test.each([
    ['ORR', [grouped, perTest], '', /^MSH MSA( ORC)+$/],
    ['ORL', [loi], 'UNICODE UTF-8', /^MSH MSA PID ORC$/],
  ])('of an order have the segments of %s', (type, profiles, charset, structure) => {
    for (const profile of profiles) {
      const [order] = ordered(profile) as [Message]
      const answering = { verdict: { code: 'AA' } as const, sent_at: '2026-03-02T15:30:01.000Z', controlId: () => 'S1' }
      const answer = answersTo(order, answering).at(-1) as Message
      expect([9, 18].map((field) => readValue(segmentOf(answer, 'MSH'), field))).toEqual([type, charset])
      expect(answer.segments.map(({ name }) => name).join(' ')).toMatch(structure)
      if (type === 'ORL') expect(segmentOf(answer, 'PID')).toEqual(segmentOf(order, 'PID'))
    }
  })

  test('of a lab are read with their answer to the order', () => {
    const refused = resultOf(
      'MSH|^~\\&|LAB|MAIN|ASSAY|ACC123|2026||ORL^O22^ORL_O22|L9|P|2.5.1',
      'MSA|AA|A101',
      'PID|1||U-1',
      'ORC|UC|ORD9-1|ACC-5567',
    )
    expect(readAcknowledgment(refused)).toEqual({
      code: 'AA',
      control_id: 'A101',
      text: null,
      error_codes: [],
      order_control: 'UC',
      filler_numbers: ['ACC-5567'],
    })
    expect(readAcknowledgment(resultOf(oru, pid))).toBeUndefined()
    expect(fieldOf(undefined, 1)).toEqual([])
  })
})
