/** A page: where it is, what the navigation calls it, and what a reader finds there. */
export type DocsPage = { slug: string; title: string; about: string }

const page = (slug: string, title: string, about: string): DocsPage => ({ slug, title, about })

/** The one page that is not written in markdown. */
export const REFERENCE = 'reference'

/** THE table of pages: navigation, their order, previous and next, and the index follow from it. `docs/{slug}.md` is the page. */
export const groups: { title: string; pages: DocsPage[] }[] = [
  { title: 'Start', pages: [page('quick-start', 'Quick start', 'Order a lab test and receive a verified webhook in five minutes.')] },
  {
    title: 'Concepts',
    pages: [
      page('concepts', 'Concepts', 'Organisations, teams, users, orders, events: what they are and how they hang together.'),
      page('lifecycle', 'Order lifecycle', 'Which step of an order may follow which, drawn for each collection method.'),
    ],
  },
  {
    title: 'Guides',
    pages: [
      page('guides/order-walk-in', 'Order a walk-in test', 'The patient goes to a collection site.'),
      page('guides/order-testkit', 'Order a test kit', 'A kit goes to the patient and back to the lab.'),
      page('guides/order-at-home', 'Order a draw at home', 'A phlebotomist comes to the patient.'),
      page('guides/order-on-site', 'Order an on-site collection', 'You draw the sample yourself.'),
      page('guides/webhook-receivers', 'Receive webhooks', 'Receivers in TypeScript, Python and Go that verify what comes.'),
      page('guides/wearables', 'Connect wearables', 'From a link to the data of a user.'),
      page('guides/production', 'Go to production', 'What to settle before the first real patient.'),
      page('guides/moving', 'Move from the hosted vendor', 'Keep its SDK and change the address.'),
    ],
  },
  {
    title: 'Reference',
    pages: [
      page(REFERENCE, 'API reference', 'Every endpoint with its fields, and requests to try.'),
      page('events', 'Events', 'Every event type with an example, and the log to read.'),
      page('errors', 'Errors', 'Every error_type, its status and its meaning.'),
      page('config', 'Settings', 'The environment variables and their defaults.'),
      page('cli', 'Command line', 'Every command of assay, its options and exit codes.'),
      page('orders', 'Lab orders', 'Placing, scheduling, cancelling, kits, redraws, results, the simulator.'),
      page('webhooks', 'Webhooks', 'Create webhooks, verify signatures, retries, replay and limits.'),
      page('wearables', 'Wearable data', 'What can be pushed and read, with units and bounds.'),
      page('sources', 'Wearable sources', 'Connect sources: link tokens, OAuth settings, sandbox sign-ins and phones.'),
      page('pipelines', 'Pipelines', 'Publish the event log to RabbitMQ or Google Cloud Pub/Sub.'),
    ],
  },
  {
    title: 'Operating',
    pages: [
      page('architecture', 'Architecture for operators', 'Processes, ports, storage, outbound traffic and failure modes.'),
      page('operating', 'Operating', 'Health checks, backups, sizing and daily commands.'),
      page('upgrading', 'Upgrading', 'Upgrade steps, release notes, compatibility and deprecation policy.'),
      page('security', 'Security', 'Keys, sign-in, encryption, erasure, audit log and network rules.'),
      page('shared-responsibility', 'Shared responsibility', 'HIPAA and GDPR: what Assay does and what you do.'),
    ],
  },
]

export const pages = groups.flatMap((group) => group.pages)

export const pageAt = (slug: string) => pages.find((one) => one.slug === slug)

/** The pages before and after one, in the order of the navigation. */
export function besides({ slug }: DocsPage) {
  const at = pages.findIndex((one) => one.slug === slug)
  return { before: pages[at - 1], after: pages[at + 1] }
}

export const pathOf = ({ slug }: DocsPage) => `/docs/${slug}`
