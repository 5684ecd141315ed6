import { z } from 'zod'
import { Id, openEnum } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { PersonalText, PersonName, personal, Safe } from '../personal.ts'
import { interpretations } from './results.ts'

export const parsingStatuses = ['upload_pending', 'started', 'completed', 'failed'] as const
export const parsingFailures = ['invalid_input', 'low_quality', 'not_english', 'too_many_pages', 'processing_error'] as const
export type ParsingFailure = (typeof parsingFailures)[number]

export const MAX_REPORT_FILE_BYTES = 10 * 1024 * 1024
export const MAX_REPORT_FILES = 10

const LoincMatch = z
  .object({
    loinc_code: Safe,
    loinc_name: Safe,
    display_name: Safe,
    aliases: z.array(Safe),
    confidence_score: z.number().describe('From 0 to 1.'),
  })
  .meta({ id: 'LoincMatch' })

export const ParsedResult = z
  .object({
    test_name: Safe.describe('As the report prints it.'),
    value: Safe,
    confidence: z
      .number()
      .describe(
        'From 0 to 1. Below 1, the value spans several lines, is free text, is not final, or contradicts the flag that the report prints.',
      ),
    type: openEnum(['numeric', 'range', 'comment', 'boolean', 'duration', 'percentage', 'ratio']).nullable(),
    units: Safe.nullable(),
    min_reference_range: z.number().nullable(),
    max_reference_range: z.number().nullable(),
    source_panel_name: Safe.nullable(),
    interpretation: openEnum(interpretations).nullable(),
    is_above_max_range: z.boolean().nullable(),
    is_below_min_range: z.boolean().nullable(),
    sample_type: openEnum(['urine', 'serum_plasma_blood', 'capillary_blood', 'stool', 'saliva', 'other', 'unknown']),
    measurement_kind: openEnum(['direct', 'calculated', 'ratio', 'unknown']),
    sensitivity: openEnum(['sensitive', 'insensitive', 'unknown']),
    loinc_matches: z.array(LoincMatch).nullable(),
    loinc_match_status: openEnum(['auto_match', 'needs_review', 'no_match']).nullable(),
  })
  .meta({ id: 'ParsedResult' })
export type ParsedResult = z.output<typeof ParsedResult>

const ParsedMetadata = z
  .object({
    patient_first_name: PersonName.describe('Empty if the file does not have it.'),
    patient_last_name: PersonName,
    dob: personal(z.string(), 'date'),
    gender: openEnum(['male', 'female', 'other']),
    lab_name: Safe,
    date_reported: Safe.nullable(),
    date_collected: Safe.nullable(),
    specimen_number: Safe.nullable(),
  })
  .meta({ id: 'ParsedMetadata' })
export type ParsedMetadata = z.output<typeof ParsedMetadata>

export const ParsedReport = z
  .object({
    metadata: ParsedMetadata,
    results: z.array(ParsedResult),
    unread: z
      .array(z.object({ file: z.int(), page: z.int().nullable(), text: PersonalText, reason: Safe }))
      .describe('What the parser could not read as a result, up to 100 entries. The first file and page have the number 1.'),
  })
  .meta({ id: 'ParsedReport' })
export type ParsedReport = z.output<typeof ParsedReport>

export const ParsingJob = z
  .object({
    id: Id,
    job_id: Id.describe('The same as `id`, for clients that require this name.'),
    user_id: Id,
    status: openEnum(parsingStatuses),
    failure_reason: openEnum(parsingFailures).nullable(),
    data: ParsedReport.nullable(),
    needs_human_review: z.boolean().describe('As you sent it. Assay only stores it. Review the data yourself.'),
    is_reviewed: z.boolean().describe('Always false: there is no review in Assay yet.'),
  })
  .meta({ id: 'ParsingJob' })

const ReportFile = z
  .file({ error: 'Must be a file, sent as multipart/form-data.' })
  .min(1, 'Must not be empty.')
  .max(MAX_REPORT_FILE_BYTES, 'Must have at most 10 MiB.')

const parser = { auth: 'team', tag: 'Results', returns: ParsingJob } as const

export const reportParserEndpoints = {
  createParsingJob: endpoint({
    ...parser,
    method: 'post',
    path: '/lab_report/v1/parser/job',
    summary: 'Create a job that parses a lab report',
    description:
      'Reads result reports that Assay drew as PDF, results as JSON in the shape of `GET /v3/order/{order_id}/result`, HL7 v2 files and CSV files. A CSV file needs a header, and an HL7 file has `ORU^R01` messages of one patient. Assay parses the files in the background and emits `lab_report.parsing_job.updated`. Images, scanned pages and reports of other layouts end as `failed`. The data does not become the result of an order.',
    subjects: { user_id: 'body.user_id', id: 'result.id' },
    largeBody: true,
    multipart: true,
    body: z
      .object({
        file: z.array(ReportFile).min(1, 'Send at least one file.').max(MAX_REPORT_FILES, `Send at most ${MAX_REPORT_FILES} files.`),
        user_id: Id,
        needs_human_review: z.boolean().default(false),
      })
      .meta({ id: 'NewParsingJob' }),
    refusals: { 404: 'No such user in the team.', 429: 'The team has too many parsing jobs that have not ended.' },
  }),
  getParsingJob: endpoint({
    ...parser,
    method: 'get',
    path: '/lab_report/v1/parser/job/{parsing_job_id}',
    summary: 'Get the result of parsing a lab report',
    subjects: { user_id: 'result.user_id' },
    params: z.object({ parsing_job_id: Id }),
    refusals: { 404: 'No such job in the team.' },
  }),
}
