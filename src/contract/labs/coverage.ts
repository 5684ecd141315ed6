import { z } from 'zod'
import { Id, openEnum } from '../common.ts'
import { deprecated } from '../deprecation.ts'
import { endpoint } from '../endpoint.ts'
import { Safe } from '../personal.ts'
import { billingTypes, IntegerId } from './catalog.ts'
import { Hours } from './hours.ts'

const capabilities = ['stat', 'appointment_scheduling_via_junction', 'appointment_scheduling_with_lab'] as const
const serviceTypes = ['appointment-ready', 'appointment-request'] as const

export const ZipCode = z.string().regex(/^\d{5}$/, 'Must be a ZIP code of five digits.')
export const radii = ['10', '20', '25', '50', '100'] as const
const Radius = z.enum(radii).default('25').describe('In miles.')
export const LabName = z.string().max(60).describe('The slug or an alias of a lab.')

const BillTypes = z
  .array(openEnum(billingTypes))
  .describe('The billing types that the team can use at the lab in the state of the ZIP code.')
const DistanceKnown = z
  .boolean()
  .describe('False if the location of the ZIP code is unknown. The sites of its state are then listed without a distance.')

export const LngLat = z.object({ lng: z.number(), lat: z.number() }).meta({ id: 'LngLat' })

const AreaInfo = z
  .object({
    zip_code: Safe,
    distance_known: DistanceKnown,
    phlebotomy: z
      .object({
        is_served: z.boolean(),
        providers: z.array(z.object({ name: Safe, service_types: z.array(openEnum(serviceTypes)) }).meta({ id: 'PhlebotomyProvider' })),
      })
      .meta({ id: 'PhlebotomyArea' }),
    central_labs: z
      .record(
        Safe,
        z
          .object({
            patient_service_centers: z.object({
              appointment_with_vital: z.boolean().describe('Whether you can book a visit through the API.'),
              within_radius: z.int().describe('The number of collection sites.'),
              radius: Safe,
              capabilities: z.array(openEnum(capabilities)),
            }),
            supported_bill_types: BillTypes,
            lab_id: z.int(),
          })
          .meta({ id: 'LabArea' }),
      )
      .describe('The labs of the request by the names in the request, or all labs with collection sites.'),
  })
  .meta({ id: 'AreaInfo' })

const CollectionSite = z
  .object({
    metadata: z.object({
      name: Safe,
      state: Safe,
      city: Safe,
      zip_code: Safe,
      first_line: Safe,
      second_line: Safe.nullable(),
      phone_number: Safe.nullable(),
      fax_number: Safe.nullable(),
      hours: Hours.nullable().describe('Opening hours by day of the week, in local time. Null if they are unknown.'),
      website: Safe.nullable(),
    }),
    distance: z
      .int()
      .describe('In miles, from the center of the ZIP code. -1 if it is unknown, because clients of the Junction API require a number.'),
    site_code: Safe,
    supported_bill_types: BillTypes,
    location: LngLat,
    capabilities: z.array(openEnum(capabilities)),
  })
  .meta({ id: 'CollectionSite' })

const PscInfo = z
  .object({ lab_id: z.int(), slug: Safe, distance_known: DistanceKnown, patient_service_centers: z.array(CollectionSite) })
  .meta({ id: 'CollectionSiteList' })

const coverage = { auth: 'team', tag: 'Coverage', method: 'get' } as const
const siteQuery = {
  radius: Radius,
  capabilities: z.array(z.enum(capabilities)).max(10).nullish().describe('Only sites that have all of these.'),
}
const account = { lab_account_id: Id.nullish().describe('Only the lab and the billing types of this account.') }
const unknown = { 400: 'The lab or the lab account is unknown.' }

export const coverageEndpoints = {
  getAreaInfo: endpoint({
    ...coverage,
    path: '/v3/order/area/info',
    unaudited: true,
    summary: 'Get the collection methods of an area',
    description: 'Returns which phlebotomy services visit patients in a ZIP code, and how many collection sites labs have near it.',
    subjects: {},
    query: z.object({
      zip_code: ZipCode,
      radius: Radius,
      lab: deprecated(LabName.nullish(), 'Use `labs`.'),
      labs: z.array(LabName).max(20).nullish(),
      ...account,
    }),
    returns: AreaInfo,
    refusals: unknown,
  }),
  getPscInfo: endpoint({
    ...coverage,
    path: '/v3/order/psc/info',
    unaudited: true,
    summary: 'List the collection sites near a ZIP code',
    description: 'Returns at most 500 sites of a lab, nearest first.',
    subjects: {},
    query: z.object({ zip_code: ZipCode, lab_id: IntegerId, ...siteQuery, ...account }),
    returns: PscInfo,
    refusals: unknown,
  }),
  getOrderPscInfo: endpoint({
    ...coverage,
    path: '/v3/order/{order_id}/psc/info',
    summary: 'List the collection sites near the patient of an order',
    description: "Returns the sites of the order's lab, nearest to the patient's ZIP code first. For walk_in_test orders.",
    subjects: { order_id: 'path.order_id' },
    params: z.object({ order_id: Id }),
    query: z.object(siteQuery),
    returns: PscInfo,
    refusals: { 404: 'No such order in the team, or its specimen is not collected at a site.' },
  }),
}
