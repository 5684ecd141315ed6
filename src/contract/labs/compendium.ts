import { z } from 'zod'
import { Id, openEnum, Text } from '../common.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { LabName } from './coverage.ts'

const modes = ['canonical', 'crosswalk'] as const
const relations = ['exact', 'subset', 'superset', 'overlap', 'suggested'] as const

const codes = z.array(Safe)
const Confidence = z.number().describe('From 0 to 1.')

/** Markers of several labs that measure the same. */
const CanonicalTest = z
  .object({
    loinc_set_hash: Safe.describe('Identifies the set of LOINC codes that the test measures.'),
    display_name: Safe,
    aliases: codes.describe('Other names at other labs.'),
    loinc_codes: codes,
    provider_ids: codes,
    loinc_components: codes.describe('The names of the measurements.'),
    loinc_groups: codes.describe('Always empty: the catalog has no LOINC groups.'),
    cpt_codes: codes.describe('Always empty: the catalog has no CPT codes.'),
    popularity_score: Confidence.describe('The share of lab tests of the catalog that contain it.'),
    confidence: Confidence,
  })
  .meta({ id: 'CanonicalTest' })

const LabCandidate = z
  .object({
    marker_id: z.int(),
    lab_id: z.int(),
    lab_slug: Safe.nullable(),
    name: Safe,
    result_names: codes,
    provider_id: Safe.nullable(),
    loinc_set_hash: Safe,
    loinc_codes: codes,
    loinc_components: codes,
    loinc_groups: codes,
    cpt_codes: codes,
    relation: openEnum(relations).describe('What the marker measures, compared with the test: the same, less, more, or partly the same.'),
    confidence: Confidence,
    reason_codes: codes,
    marker_popularity_score: Confidence,
  })
  .meta({ id: 'LabCandidate' })

const RelatedTest = z
  .object({ canonical: CanonicalTest, relation: openEnum(relations), confidence: Confidence, reason_codes: codes })
  .meta({ id: 'RelatedTest' })

const Search = z
  .object({
    mode: z.enum(modes),
    query: z.string().trim().max(200).nullish().describe("A name, a lab's code or a LOINC code."),
    cpt_codes: z.array(Text(20)).max(50).default([]).describe('Accepted, without effect: the catalog has no CPT codes.'),
    loinc_set_hash: Text(80).nullish(),
    labs: z.array(LabName).max(20).nullish(),
    include_related: z.boolean().default(true),
    limit: z.int().min(1).max(20).default(3).describe('At most 10 for canonical.'),
  })
  .refine(({ mode, query, loinc_set_hash }) => mode !== 'canonical' || (query && !loinc_set_hash), {
    error: 'canonical needs query, and takes no loinc_set_hash.',
    path: ['query'],
  })
  .refine(({ mode, query, loinc_set_hash }) => mode !== 'crosswalk' || Boolean(query) !== Boolean(loinc_set_hash), {
    error: 'crosswalk needs either query or loinc_set_hash.',
    path: ['query'],
  })
  .refine(({ mode, limit }) => mode !== 'canonical' || limit <= 10, { error: 'Must be at most 10 for canonical.', path: ['limit'] })
  .meta({ id: 'CompendiumSearch' })
export type CompendiumSearch = z.output<typeof Search>

const providerIds = z.array(Text(60)).max(200)

const Conversion = z
  .object({
    lab_test_id: Id.nullish().describe('Send either lab_test_id or provider_ids.'),
    provider_ids: providerIds.nullish(),
    target_lab: LabName,
    limit: z.int().min(1).max(20).default(3),
  })
  .refine(({ lab_test_id, provider_ids }) => Boolean(lab_test_id) !== Boolean(provider_ids?.length), {
    error: 'Send either lab_test_id or provider_ids.',
    path: ['provider_ids'],
  })
  .meta({ id: 'CompendiumConversion' })
export type CompendiumConversion = z.output<typeof Conversion>

const compendium = { auth: 'team', tag: 'Catalog', method: 'post', reads: true, unaudited: true, subjects: {} } as const
const noLab = { 400: 'A lab is unknown.' }

export const compendiumEndpoints = {
  searchCompendium: endpoint({
    ...compendium,
    path: '/v3/compendium/search',
    summary: 'Search tests across labs',
    description: 'canonical finds tests by name or code. crosswalk also lists the markers of each lab that measure the same, less or more.',
    body: Search,
    returns: z
      .object({
        mode: openEnum(modes),
        selected_canonical: CanonicalTest.nullable(),
        canonical_candidates: z.array(CanonicalTest),
        per_lab: z.record(Safe, z.array(LabCandidate)),
        related: z.array(RelatedTest),
      })
      .meta({ id: 'CompendiumSearchResult' }),
    refusals: noLab,
  }),
  convertCompendium: endpoint({
    ...compendium,
    path: '/v3/compendium/convert',
    summary: 'Convert tests to another lab',
    description: 'Converts a marker only if the other lab has one that measures exactly the same. Other candidates are listed.',
    body: Conversion,
    returns: z
      .object({
        source_lab_test_id: Id.nullable(),
        source_lab_id: z.int().nullable(),
        target_lab_id: z.int(),
        target_lab_slug: Safe,
        source_provider_ids: codes,
        converted_provider_ids: codes,
        unresolved_provider_ids: codes,
        by_source_provider_id: z.record(Safe, z.object({ source_provider_id: Safe, candidates: z.array(LabCandidate) })),
      })
      .meta({ id: 'CompendiumConversionResult' }),
    refusals: { ...noLab, 404: 'The team has no such lab test.' },
  }),
  searchOrderableTests: endpoint({
    ...compendium,
    path: '/v3/compendium/search_orderable_tests',
    summary: 'Search orderable markers of another lab',
    description: "For each of a lab's codes, the orderable markers of the target lab that measure at least a part of the same.",
    body: z
      .object({ provider_ids: providerIds.min(1), target_lab: LabName, per_provider_limit: z.int().min(1).max(20).default(1) })
      .meta({ id: 'OrderableTestSearch' }),
    returns: z.object({ candidates: z.record(Safe, z.array(LabCandidate)) }).meta({ id: 'OrderableTests' }),
    refusals: noLab,
  }),
}
