export type DocsPage = { slug: string; title: string; about: string }

const page = (slug: string, title: string, about: string): DocsPage => ({ slug, title, about })

/** The only page without a Markdown file. */
export const REFERENCE = 'reference'

/** The table of pages, stored in `docs/{slug}.md`. Navigation, page order and the index come from it. */
export const groups: { title: string; pages: DocsPage[] }[] = [
  { title: 'Start', pages: [page('quick-start', 'Quick start', 'Order a lab test and receive a verified webhook in five minutes.')] },
  {
    title: 'Concepts',
    pages: [
      page('concepts', 'Concepts', 'Organizations, teams, users, orders and events, and how they relate.'),
      page('lifecycle', 'Order lifecycle', 'The steps of an order and their transitions, with a diagram for each collection method.'),
      page('glossary', 'Glossary', 'Terms of laboratory medicine, wearables and Assay.'),
      page('compatibility', 'Compatibility', 'Every lab operation of the Junction API, and its implementation.'),
      page('comparison', 'Comparison with Junction', 'Similarities, differences and unsupported features.'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      page('guides/order-walk-in', 'Order a walk-in test', 'The patient visits a collection site of the lab.'),
      page('guides/order-testkit', 'Order a test kit', 'A kit ships to the patient and goes back to the lab.'),
      page('guides/order-at-home', 'Order an at-home draw', 'A phlebotomist visits the patient.'),
      page('guides/order-on-site', 'Order an on-site collection', 'Your own staff draws the specimen.'),
      page('guides/users-and-insurance', 'Users and insurance', 'Register patients, record insurance and consents, and delete users.'),
      page('guides/webhook-receivers', 'Receive webhooks', 'Verify messages in TypeScript, Python and Go.'),
      page('guides/no-personal-data', 'Send no personal data', 'Messages with IDs and a ticket, and a report of what was disclosed.'),
      page('guides/wearables', 'Connect wearables', 'Connect a source, read its data, and push your own.'),
      page('guides/oura', 'Oura', 'Register an application at Oura, and what Assay reads from it.'),
      page('guides/withings', 'Withings', 'Register an application at Withings, and what Assay reads from it.'),
      page('guides/whoop', 'WHOOP', 'Register an application at WHOOP, and what Assay reads from it.'),
      page('guides/google-health', 'Google Health', 'Register an application at Google, and what Assay reads from it.'),
      page('guides/dexcom', 'Dexcom', 'Register an application at Dexcom, and what Assay reads from it.'),
      page('guides/hl7', 'Connect a lab by HL7', 'Orders, answers and results over MLLP, with a profile per lab.'),
      page('guides/partner-labs', 'Partner labs', 'How a lab reads orders and reports steps and results.'),
      page('guides/production', 'Go to production', 'Everything to set up before the first real patient.'),
      page('guides/moving', 'Migrate from Junction', 'Keep the SDK, change the base URL, and move users, webhooks and orders.'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page(REFERENCE, 'API reference', 'Every endpoint with its fields, and requests to try.'),
      page('events', 'Events', 'Every event type with an example, and how to read the event log.'),
      page('errors', 'Errors', 'Every error_type by topic: status, meaning and remedy.'),
      page('order-checks', 'Order checks', 'Every code that rejects an order or warns about it, with its remedy.'),
      page('limits', 'Limits', 'Fair shares, fixed rates and every limit of the service.'),
      page('versioning', 'Versioning', 'Version numbers, API compatibility, and everything that is deprecated, with its replacement.'),
      page('config', 'Settings', 'The environment variables and their defaults.'),
      page('cli', 'CLI reference', 'Every assay command with its options, and the exit codes.'),
      page('orders', 'Lab orders', 'Fields, statuses, scheduling, documents, redraws and the simulator.'),
      page('appointments', 'Appointments', 'Book visits at home and at collection sites, and set up your own schedule.'),
      page('messages', 'Messages', 'Email to patients, opt-out, and the escalation of critical results.'),
      page('catalog-file', 'Catalog file', 'The file that describes your labs, markers and lab tests.'),
      page('results', 'Results', 'States of results, corrections, versions and PDFs, and results that fit no order.'),
      page('lab-profiles', 'HL7 lab profiles', 'The file that describes how a lab writes HL7 v2, and how to check it.'),
      page('webhooks', 'Webhooks', 'Create webhooks and verify signatures. Retries, replay and limits.'),
      page('wearables', 'Wearable data', 'Every resource with its fields, units and accepted values.'),
      page('sources', 'Wearable sources', 'Connect sources: link tokens, OAuth settings, sandbox sign-ins and phones.'),
      page('pipelines', 'Pipelines', 'Publish the event log to RabbitMQ or Google Cloud Pub/Sub.'),
    ],
  },
  {
    title: 'Operating',
    pages: [
      page('architecture', 'Architecture for operators', 'Processes, ports, storage, outbound traffic and failure modes.'),
      page('deploying', 'Deploying', 'Compose files and a Helm chart: which one to choose, how to install and upgrade.'),
      page('operating', 'Operating', 'Health checks, backups, sizing and daily commands.'),
      page('scaling', 'Scaling', 'Capacity planning, costs and bottlenecks; pooler, failover, read replica and Citus.'),
      page('upgrading', 'Upgrading', 'Upgrade steps, rollback and release notes.'),
      page('security', 'Security', 'Keys, sign-in, encryption, erasure, audit log and network rules.'),
      page('shared-responsibility', 'Shared responsibility', 'HIPAA and GDPR: what Assay does and what you do.'),
      page('compliance', 'Compliance map', 'HIPAA, SOC 2, GDPR and OWASP: requirements, features and tests.'),
    ],
  },
  {
    title: 'Help',
    pages: [
      page('troubleshooting', 'Troubleshooting', 'Symptoms, causes and fixes.'),
      page('faq', 'FAQ', 'Short answers to common questions.'),
    ],
  },
]

export const pages = groups.flatMap((group) => group.pages)

export const pageAt = (slug: string) => pages.find((page) => page.slug === slug)

export function neighborsOf({ slug }: DocsPage) {
  const at = pages.findIndex((page) => page.slug === slug)
  return { before: pages[at - 1], after: pages[at + 1] }
}

export const pathOf = ({ slug }: DocsPage) => `/docs/${slug}`
