type Site = { capabilities: string[] }

/** The catalog names the first capability without saying through whom the patient books. */
const capabilityNames: Record<string, string> = { appointment_scheduling: 'appointment_scheduling_via_junction' }

export const capabilitiesOf = ({ capabilities }: Site) => capabilities.map((name) => capabilityNames[name] ?? name)

const bookings = ['appointment_scheduling', 'appointment_scheduling_via_junction']

/** The capabilities of a site. Only the schedule says whether visits can be booked. */
export const withBooking = ({ capabilities }: Site, isScheduled: boolean) => [
  ...capabilities.filter((name) => !bookings.includes(name)),
  ...(isScheduled ? ['appointment_scheduling_via_junction'] : []),
]

export const isBookable = (site: Site) => capabilitiesOf(site).includes('appointment_scheduling_via_junction')
