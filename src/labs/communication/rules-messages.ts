import { patientLanguages } from '../../contract/tenants/management.ts'
import { HOUR, later } from '../../platform/time.ts'

export type Language = (typeof patientLanguages)[number]

/** The moments at which a patient gets a message. */
export const patientMessages = [
  'appointment_booked',
  'appointment_moved',
  'appointment_canceled',
  'appointment_reminder',
  'kit_shipped',
  'results_ready',
] as const
export type PatientMessage = (typeof patientMessages)[number]

/** What a text can name. No test, result or condition is among it, because anyone who sees the inbox reads the text. */
export type Facts = {
  company: string
  website: string
  support: string
  /** The time of a visit, in the words of the language. */
  time: string
  /** The address of a collection site. Empty for a visit at home. */
  place: string
}

type Template = { subject: string; lines(facts: Facts): string[] }

const at = (text: string, place: string, word: string) => (place ? `${text} ${word}: ${place}.` : text)

const english: Record<PatientMessage, Template> = {
  appointment_booked: {
    subject: 'Your appointment is booked',
    lines: ({ time, place }) => [at(`Your appointment is on ${time}.`, place, 'Address')],
  },
  appointment_moved: {
    subject: 'Your appointment has a new time',
    lines: ({ time, place }) => [at(`Your appointment is now on ${time}.`, place, 'Address')],
  },
  appointment_canceled: {
    subject: 'Your appointment is canceled',
    lines: ({ time }) => [`Your appointment on ${time} is canceled.`],
  },
  appointment_reminder: {
    subject: 'Reminder: your appointment',
    lines: ({ time, place }) => [
      at(`Your appointment is on ${time}.`, place, 'Address'),
      'If you cannot make it, change it in your account.',
    ],
  },
  kit_shipped: {
    subject: 'Your package is on its way',
    lines: () => ['We have shipped a package to you. Follow the instructions inside when it arrives.'],
  },
  results_ready: {
    subject: 'There is news in your account',
    lines: () => ['There is news in your account. Sign in to read it.'],
  },
}

const spanish: Record<PatientMessage, Template> = {
  appointment_booked: {
    subject: 'Su cita está reservada',
    lines: ({ time, place }) => [at(`Su cita es el ${time}.`, place, 'Dirección')],
  },
  appointment_moved: {
    subject: 'Su cita tiene una nueva hora',
    lines: ({ time, place }) => [at(`Su cita es ahora el ${time}.`, place, 'Dirección')],
  },
  appointment_canceled: {
    subject: 'Su cita está cancelada',
    lines: ({ time }) => [`Su cita del ${time} está cancelada.`],
  },
  appointment_reminder: {
    subject: 'Recordatorio: su cita',
    lines: ({ time, place }) => [at(`Su cita es el ${time}.`, place, 'Dirección'), 'Si no puede asistir, cámbiela en su cuenta.'],
  },
  kit_shipped: {
    subject: 'Su paquete está en camino',
    lines: () => ['Le hemos enviado un paquete. Cuando llegue, siga las instrucciones que contiene.'],
  },
  results_ready: {
    subject: 'Hay novedades en su cuenta',
    lines: () => ['Hay novedades en su cuenta. Inicie sesión para leerlas.'],
  },
}

const templates: Record<Language, Record<PatientMessage, Template>> = { en: english, es: spanish }

const frames: Record<Language, { greeting: string; support: string; reason(company: string): string }> = {
  en: {
    greeting: 'Hello,',
    support: 'Questions?',
    reason: (company) => `You get this message because ${company} looks after an order for you.`,
  },
  es: {
    greeting: 'Hola:',
    support: '¿Tiene preguntas?',
    reason: (company) => `Recibe este mensaje porque ${company} gestiona un pedido para usted.`,
  },
}

/** The subject and the plain text of a message. */
export function renderMessage(kind: PatientMessage, language: Language, facts: Facts) {
  const { subject, lines } = templates[language][kind]
  const { greeting, support, reason } = frames[language]
  const paragraphs = [
    greeting,
    ...lines(facts),
    ...(facts.website ? [facts.website] : []),
    ...(facts.support ? [`${support} ${facts.support}`] : []),
    facts.company,
    reason(facts.company),
  ]
  return { subject, text: `${paragraphs.join('\n\n')}\n` }
}

/** The time of a visit in its own zone, with the name of the zone, because the patient may be elsewhere. */
export const formatTime = (instant: string, time_zone: string | null, language: Language) =>
  new Date(instant).toLocaleString(language === 'es' ? 'es-US' : 'en-US', {
    ...{ weekday: 'long', month: 'long', day: 'numeric', year: 'numeric', hour: 'numeric', minute: '2-digit', timeZoneName: 'short' },
    timeZone: time_zone ?? 'UTC',
  })

export const languageOf = (text: string | null | undefined): Language => patientLanguages.find((language) => language === text) ?? 'en'

type VisitTime = { status: string; start_at: string | null; calendar_code: string | null }

/** What the change of a visit means for its patient. A requested visit without a time is no news. */
export function visitMessage(before: VisitTime, after: VisitTime): PatientMessage | undefined {
  if (after.status === 'cancelled') return before.start_at ? 'appointment_canceled' : undefined
  if (!after.start_at || !['reserved', 'confirmed'].includes(after.status)) return undefined
  if (!before.start_at) return 'appointment_booked'
  return before.start_at === after.start_at && before.calendar_code === after.calendar_code ? undefined : 'appointment_moved'
}

const REMINDER_MS = 24 * HOUR

/** When to remind of a visit. A visit within the next day needs no reminder. */
export function reminderAt(start_at: string, now: string) {
  const at = later(start_at, -REMINDER_MS)
  return at > now ? at : undefined
}

type OrderSteps = { method: string; events: { low_level: string }[] }

/** What a step of an order means for its patient. A kit that returns to its way is no news. */
export function stepMessage({ method, events }: OrderSteps, step: string): PatientMessage | undefined {
  if (step === 'completed' || step === 'corrected') return 'results_ready'
  const isFirst = events.filter(({ low_level }) => low_level === step).length === 1
  return method === 'testkit' && step === 'transit_customer' && isFirst ? 'kit_shipped' : undefined
}
