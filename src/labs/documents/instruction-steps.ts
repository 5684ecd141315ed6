import type { sampleTypes } from '../../contract/labs/catalog.ts'
import type { Method } from '../../contract/labs/lifecycle.ts'

export type SampleType = (typeof sampleTypes)[number]

type Circumstances = { method: Method; sample_type: SampleType; fasting: boolean }

/** What the patient does, first to last. */
export function stepsFor({ method, sample_type, fasting }: Circumstances): string[] {
  const preparation = fasting ? fastingSteps : []
  if (method === 'testkit') return [...preparation, ...opening, ...atHome[sample_type], ...sending]
  return [...before[method], ...preparation, ...(byStaff[sample_type] ?? drawnByStaff), ...after[method]]
}

const fastingSteps = [
  'Do not eat or drink anything but plain water for 8 to 12 hours before the collection. An early morning collection makes this easier.',
  'Go on taking your medicines as prescribed unless your physician told you otherwise. If fasting is not safe for you, for example because of diabetes, ask your physician first.',
]

const opening = [
  'Read all steps before you begin, and check that the kit is complete, sealed and not past its expiry date. If it is not, do not use it and ask for another.',
  'Register the kit if you were asked to do so. Write your full name, your date of birth and the date and time of the collection on the sample label. A sample without them cannot be tested.',
  'Wash your hands with soap and warm water and dry them.',
]

const sending = [
  'Put the closed sample into the protective bag and the bag into the return box, together with any form that came with it.',
  'Send the box on the day of the collection, with the label that came with it. Do not leave it in a hot car or outside, and avoid the day before a weekend or holiday.',
]

const fingertip = [
  'Let your arm hang down and warm your hand for a few minutes; blood then flows more easily.',
  'Clean the side of the tip of your middle or ring finger with the alcohol wipe and let it dry in the air.',
  'Press the lancet firmly against the side of the fingertip until it clicks. Wipe away the first drop with the gauze.',
  'Let one drop fall onto each circle of the card. The blood must soak through; do not smear it, do not touch the card with your finger and do not put two drops on one circle.',
  'Press the gauze on the finger until the bleeding stops, then put on the bandage.',
  'Let the card dry flat in the air for at least 3 hours, away from sun and heat. Do not close it before it is dry.',
]

const upperArm = [
  'Rub your upper arm for a minute or warm it with the pack of the kit. Clean the place with the alcohol wipe and let it dry.',
  'Take off the cover of the device and press it firmly onto the cleaned place; it stays there by itself.',
  'Press the button once and keep the arm still and relaxed until the tube is filled to the mark. This takes a few minutes.',
  'Take the device off slowly, press the gauze on the place and put on the bandage.',
  'Close the tube until it clicks and turn it over gently 8 to 10 times. Do not shake it.',
]

const spit = [
  'Do not eat, drink, smoke, chew gum or brush your teeth for 30 minutes before the collection.',
  'Rinse your mouth with water and wait 10 minutes.',
  'Let saliva gather in your mouth and let it run into the tube up to the mark. Foam does not count.',
  'Close the tube tightly. If the kit has a liquid for it, let it run in as shown on the tube and turn the tube over 5 times.',
]

const midstream = [
  'Clean yourself with the wipe of the kit, from front to back.',
  'Begin to urinate into the toilet, then hold the cup into the stream and fill it to the mark. Do not touch the inside of the cup.',
  'If the kit has a tube, fill it from the cup at once. Close it tightly and wipe it dry.',
]

const stoolSample = [
  'Urinate first. Then catch the stool with the paper or tray of the kit; it must touch neither water nor urine.',
  'Open the tube and take small portions from several places with its spoon, up to the mark. More is not better.',
  'Close the tube tightly and shake it until the sample has mixed with the liquid. Do not pour the liquid out; rinse off with water if it touches skin or eyes.',
  'Flush away the rest and wash your hands.',
]

const venous = [
  'A kit for blood from a vein is not for self-collection. Take it, unopened, to a professional who draws blood and hand over these instructions with it.',
  'The tube is filled to the mark, turned over gently 5 to 10 times, left upright for 30 minutes and spun as the tube requires.',
]

const atHome: Record<SampleType, string[]> = {
  dried_blood_spot: fingertip,
  arm_collector: upperArm,
  serum: venous,
  saliva: spit,
  urine: midstream,
  stool: stoolSample,
}

const drawnByStaff = [
  'Drink a glass of water an hour before, and wear sleeves that are easy to roll up.',
  'Tell the person who draws your blood if you have ever fainted, bruise easily, take blood thinners or are allergic to latex or adhesive tape.',
  'Press on the place for a few minutes afterwards and do not lift anything heavy with that arm for an hour.',
]

/** What is not drawn from the patient is given by the patient, wherever that happens. */
const byStaff: Partial<Record<SampleType, string[]>> = {
  saliva: [...spit.slice(0, 2), 'Let saliva run into the tube that you are given, up to the mark. Close it and hand it back.'],
  urine: [
    'Drink a glass of water beforehand and do not empty your bladder in the last hour.',
    ...midstream.slice(0, 2),
    'Close the cup and hand it back.',
  ],
  stool: ['Ask for the container ahead of time; the sample may be collected at home.', ...stoolSample.slice(0, 3)],
}

const identify = 'Name, date of birth and sample number on each tube must be yours: check them before the tube is taken away.'

const before = {
  walk_in_test: [
    'Choose a collection site that the laboratory accepts and look up its hours. Some sites ask for an appointment.',
    'Bring a photo identity document and your requisition, on paper or on your phone, and your insurance card if insurance is billed.',
  ],
  at_home_phlebotomy: [
    'Be at home during the time that you booked, and have a photo identity document ready.',
    'Prepare a well-lit place where you can sit or lie down with your arm on a firm surface, near running water. Keep pets in another room.',
  ],
  on_site_collection: ['Come to the place and at the time that you were told, and bring a photo identity document.'],
}

const after = {
  walk_in_test: [identify],
  at_home_phlebotomy: [identify, 'The visitor takes the sample to the laboratory; you need not send anything.'],
  on_site_collection: [identify],
}
