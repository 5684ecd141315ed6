import { errors } from './kinds.ts'

export const catalogErrors = errors({
  LAB_ACCOUNT_INACTIVE: {
    kind: 'refused',
    meaning: 'The lab account is not active.',
    remedy: 'List active accounts with GET /v3/lab_test/lab_account?status=active.',
  },
  LAB_ACCOUNT_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The organization has no lab account with this ID.',
    remedy: 'List the lab accounts to find their IDs.',
  },
  LAB_ACCOUNT_OF_ANOTHER_LAB: {
    kind: 'refused',
    meaning: 'The lab account belongs to a different lab than the tests or markers.',
    remedy: 'Choose an account at the lab of the tests and markers.',
  },
  LAB_TEST_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'Neither the catalog nor the team has a lab test with this ID.',
    remedy: 'List the lab tests with GET /v3/lab_test.',
  },
  MARKERS_NAMED_TWICE: {
    kind: 'refused',
    meaning: 'The request has both marker_ids and provider_ids.',
    remedy: 'Send one of the two.',
  },
  MARKERS_REQUIRED: {
    kind: 'refused',
    meaning: 'The request has neither marker_ids nor provider_ids.',
    remedy: 'Send at least one marker. GET /v3/lab_tests/markers lists them.',
  },
  MARKER_NOT_A_LA_CARTE: {
    kind: 'refused',
    meaning: 'add_on names a marker that the lab runs only as part of a lab test.',
    remedy: 'Choose markers with a_la_carte_enabled, or order the lab test.',
  },
  MARKER_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The lab has no marker with this provider_id.',
    remedy: 'List the markers of the lab with GET /v3/lab_tests/markers?lab_id=.',
  },
  MARKER_NOT_ORDERABLE: {
    kind: 'refused',
    meaning: 'The request names a marker that can no longer be ordered.',
    remedy: 'Choose markers with is_orderable.',
  },
  METHOD_NOT_OFFERED: {
    kind: 'refused',
    meaning: 'The lab does not offer this collection method.',
    remedy: 'Use a collection method listed in error_message, or another lab.',
  },
  NPI_INVALID: {
    kind: 'refused',
    meaning: 'An NPI in the list of physicians is listed twice, or its check digit is wrong.',
    remedy: 'Check the ten digits of each NPI.',
  },
  NO_COMMON_SAMPLE_TYPE: {
    kind: 'refused',
    meaning: 'The markers need different specimen types.',
    remedy: 'Create one lab test per specimen type.',
  },
  ORDER_SET_EMPTY: {
    kind: 'refused',
    meaning: 'The order set has neither lab_test_ids nor add_on.',
    remedy: 'Send lab_test_ids, add_on or both.',
  },
  SEVERAL_LABS: {
    kind: 'refused',
    meaning: 'The tests or markers belong to more than one lab.',
    remedy: 'Choose tests and markers of one lab, and place one order per lab.',
  },
  SHARED_LAB_TEST: {
    kind: 'refused',
    meaning: 'A lab test of the catalog is shared by all teams and cannot be changed.',
    remedy: 'Create a lab test of your own with POST /v3/lab_tests.',
  },
  UNKNOWN_LAB: {
    kind: 'refused',
    meaning: 'The request names a lab that the catalog does not have.',
    remedy: 'List the labs with GET /v3/lab_tests/labs.',
  },
  UNKNOWN_LAB_ACCOUNT: {
    kind: 'refused',
    meaning: 'lab_account_id does not name a lab account that the team can use.',
    remedy: 'List the lab accounts with GET /v3/lab_test/lab_account.',
  },
  UNKNOWN_LAB_TEST: {
    kind: 'refused',
    meaning: 'lab_test_ids names a lab test that neither the catalog nor the team has.',
    remedy: 'List the lab tests with GET /v3/lab_test.',
  },
  UNKNOWN_MARKER: {
    kind: 'refused',
    meaning: 'marker_ids or provider_ids names a marker that does not exist at the lab.',
    remedy: 'List the markers with GET /v3/lab_tests/markers.',
  },
})

export const placementErrors = errors({
  BILLING_TYPE_NOT_ALLOWED: {
    kind: 'refused',
    meaning: "The lab account may not use this billing_type in the patient's state.",
    remedy: 'Check allowed_billing of GET /v3/lab_test/lab_account.',
  },
  BILLING_TYPE_NOT_SUPPORTED: {
    kind: 'refused',
    meaning: 'The lab does not support this billing_type.',
    remedy: 'Use a billing_type listed in error_message.',
  },
  COLLECTION_METHOD_REQUIRED: {
    kind: 'refused',
    meaning: 'The order has markers in add_on but no collection_method.',
    remedy: 'Choose a method of the lab in collection_method.',
  },
  GUARANTOR_REQUIRED: {
    kind: 'refused',
    meaning: 'The patient is insured through another person, and the order names no guarantor.',
    remedy: 'Send health_insurance.responsible_details, or record the insurance with its guarantor.',
  },
  ICD_CODES_REQUIRED: {
    kind: 'refused',
    meaning: 'An order billed to commercial insurance has no diagnosis code.',
    remedy: 'Send at least one ICD-10-CM code in icd_codes.',
  },
  ICD_CODE_INVALID: {
    kind: 'refused',
    meaning: 'An order billed to commercial insurance has a diagnosis code that is not in ICD-10-CM format.',
    remedy: 'Send a code such as E78.5.',
  },
  INSURANCE_REQUIRED: {
    kind: 'refused',
    meaning: 'An order billed to commercial insurance names no insurance, and the user has no primary insurance.',
    remedy: 'Record the insurance with POST /v2/user/{user_id}/insurance.',
  },
  LAB_ACCOUNTS_DIFFER: {
    kind: 'refused',
    meaning: 'lab_account_id and order_set.lab_account_id name different accounts.',
    remedy: 'Send one of them.',
  },
  LAB_ACCOUNT_AMBIGUOUS: {
    kind: 'refused',
    meaning: 'The team has several active accounts at the lab.',
    remedy: 'Choose one with lab_account_id.',
  },
  LAB_DOES_NOT_SERVE_STATE: {
    kind: 'refused',
    meaning: "The lab does not serve the patient's state.",
    remedy: 'Order from another lab.',
  },
  LAB_TEST_NOT_ACTIVE: {
    kind: 'refused',
    meaning: 'The order names a lab test that is archived or pending approval.',
    remedy: 'List active lab tests with GET /v3/lab_test?status=active.',
  },
  MINORS_NOT_ALLOWED: {
    kind: 'refused',
    meaning: 'The patient is a minor, and minor_ordering_enabled is off for the team.',
    remedy: 'Turn on minor_ordering_enabled for the team.',
  },
  NOT_A_TESTKIT: {
    kind: 'refused',
    meaning: 'The lab test is not collected with a test kit.',
    remedy: 'Choose a lab test whose method is `testkit`.',
  },
  NO_TESTS_NAMED: {
    kind: 'refused',
    meaning: 'The order names no lab test and no marker.',
    remedy: 'Send order_set.lab_test_ids or order_set.add_on.',
  },
  PHYSICIAN_REQUIRED: {
    kind: 'refused',
    meaning: "The lab accepts orders from the patient's state only with a physician.",
    remedy: 'Send `physician` with the name and NPI.',
  },
  SEVERAL_METHODS: {
    kind: 'refused',
    meaning: 'The tests have different collection methods.',
    remedy: 'Choose one with collection_method, or place one order per method.',
  },
})

export const orderErrors = errors({
  ACTIVATE_BY_PASSED: {
    kind: 'refused',
    meaning: 'The new activate_by is in the past.',
    remedy: 'Send today or a later day, or null to send the order to the lab now.',
  },
  DRAW_NOT_POSSIBLE: {
    kind: 'refused',
    meaning: 'The order has no requisition yet, or its specimen is already drawn.',
    remedy: 'Report the draw after requisition_created and only once.',
  },
  KIT_HAS_A_PATIENT: {
    kind: 'refused',
    meaning: 'The kit was ordered for a known patient, so it needs no registration.',
    remedy: 'Register only kits ordered with POST /v3/order/testkit.',
  },
  KIT_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no kit with this sample_id.',
    remedy: 'Use the sample_id printed on the kit and shown on the order.',
  },
  KIT_NOT_REGISTRABLE: {
    kind: 'refused',
    meaning: 'The kit was already returned, or its order has ended.',
    remedy: 'Register a kit after it is sent out and before it is returned.',
  },
  KIT_REGISTERED: {
    kind: 'conflict',
    meaning: 'The kit is already registered.',
    remedy: 'Nothing to do. GET /v3/order/{order_id} shows the patient.',
  },
  NOT_A_WALK_IN: {
    kind: 'not_found',
    meaning: 'The specimen of the order is not collected at a site of the lab.',
    remedy: 'Ask for sites and visits of walk_in_test orders only.',
  },
  NOT_ON_SITE: {
    kind: 'refused',
    meaning: 'A draw was reported for an order that is not an on-site collection.',
    remedy: 'For other collection methods, wait for the status from the lab or phlebotomist.',
  },
  ORDER_GOES_ON: {
    kind: 'refused',
    meaning: 'The order has not ended, so it cannot be recreated.',
    remedy: 'Report the results on the order itself.',
  },
  ORDER_NOT_CANCELLABLE: {
    kind: 'refused',
    meaning: 'The order is past the last status in which it can be canceled.',
    remedy: 'See the order lifecycle for the statuses that allow cancellation.',
  },
  FAILED_LAB_MESSAGE_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The lab sent no message with this control ID, or it was filed.',
    remedy: 'List the messages that could not be filed with GET /console/operator/failed_lab_messages.',
  },
  LAB_MESSAGE_ACCEPTED: {
    kind: 'refused',
    meaning: 'The lab sent the message, has accepted it, or never gets it because the order was canceled.',
    remedy: 'Only messages in the state pending, stored or rejected can be sent again.',
  },
  LAB_MESSAGE_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'No HL7 message that you can see has this ID.',
    remedy: 'List the messages with GET /console/lab_messages.',
  },
  ORDER_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no order with this ID. For a lab key: no such order was sent to the lab.',
    remedy: 'List the orders with GET /v3/orders, or GET /lab/v1/orders as a lab.',
  },
  ORDER_NOT_HELD: {
    kind: 'refused',
    meaning: 'The order was already sent to the lab or has ended, so it cannot be rescheduled.',
    remedy: 'Cancel the order if its status allows that, and place a new one.',
  },
  ORDER_NOT_SCHEDULED: {
    kind: 'refused',
    meaning: 'The order was created without activate_by, so it cannot be rescheduled.',
    remedy: 'Cancel the order, and place a new one with activate_by.',
  },
  REDRAW_NOT_OFFERED: {
    kind: 'refused',
    meaning: 'The lab does not offer redraws, or this transaction already has one.',
    remedy: 'Place a new order.',
  },
  STATUS_NOT_REACHABLE: {
    kind: 'refused',
    meaning: 'The lifecycle has no path from the current status to the requested one.',
    remedy: 'See the order lifecycle for the next possible statuses.',
  },
  TOO_MANY_TO_RESEND: {
    kind: 'refused',
    meaning: 'The time window contains more orders than one request can resend.',
    remedy: 'Resend a shorter window.',
  },
  TOO_MANY_TO_SORT: {
    kind: 'refused',
    meaning: 'More than 10,000 orders match, which is too many to sort by patient_name.',
    remedy: 'Narrow the filter, for example by date.',
  },
  TRANSACTION_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no order transaction with this ID.',
    remedy: 'Use order_transaction.id of an order.',
  },
})

export const resultErrors = errors({
  DOCUMENT_NOT_AVAILABLE: {
    kind: 'not_found',
    meaning: 'The order or the result does not have this document, or does not have it yet.',
    remedy: 'Read error_message for the status that provides it.',
  },
  NOTE_REQUIRED: {
    kind: 'invalid',
    meaning: 'A person acknowledged a critical result in the console without a note.',
    remedy: 'Name the person who was informed in `note`.',
  },
  NOTHING_CRITICAL: {
    kind: 'not_found',
    meaning: 'The order never had a critical result.',
    remedy: 'Acknowledge only orders with a labtest.result.critical event.',
  },
  PERSON_REQUIRED: {
    kind: 'forbidden',
    meaning: 'The console session began with a key, which names no person.',
    remedy: 'Sign in to the console as a person. `assay people invite` creates the first one.',
  },
  RESULT_VERSION_OUTDATED: {
    kind: 'conflict',
    meaning: 'The acknowledgment of a critical result names an older version than the latest report.',
    remedy: 'Read the results again, and send the `result_version` from `detail`.',
  },
  RESULT_VERSION_REQUIRED: {
    kind: 'invalid',
    meaning: 'The acknowledgment of a critical result does not say which version was read.',
    remedy: 'Send metadata.result_version of GET /v3/order/{order_id}/result as result_version.',
  },
  REVIEWER_REQUIRED: {
    kind: 'invalid',
    meaning: 'A key acknowledged a critical result without naming the person who has read it.',
    remedy: 'Send `reviewer` with the name and your own reference of the person.',
  },
  RESULTS_NOT_AVAILABLE: {
    kind: 'not_found',
    meaning: 'The lab has not reported results yet.',
    remedy: 'Wait for a labtest.order.updated event with partial_results or `completed`.',
  },
})

export const kitErrors = errors({
  COURIER_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no courier with this code.',
    remedy: 'List the couriers with GET /v3/courier.',
  },
  NOT_A_KIT: {
    kind: 'refused',
    meaning: 'The order is not collected with a test kit, so it has no shipment.',
    remedy: 'Record shipments only for orders with the collection method testkit.',
  },
  TRACKING_NUMBER_TAKEN: {
    kind: 'conflict',
    meaning: 'Another order of the team has a parcel with this tracking number.',
    remedy: 'Check the number on the label.',
  },
  UNKNOWN_COURIER: {
    kind: 'refused',
    meaning: 'The team has no courier with the code on the label.',
    remedy: 'Create the courier with PUT /v3/courier/{courier}.',
  },
})

export const unmatchedErrors = errors({
  ORDER_OF_ANOTHER_LAB: {
    kind: 'refused',
    meaning: 'An unmatched result was accepted for an order of another lab.',
    remedy: 'Import an order of the lab that sent the result, and accept the result there.',
  },
  DIFFERENCE_NOTE_REQUIRED: {
    kind: 'invalid',
    meaning: 'The name, birth date or sex in the unmatched result differs from that of the order, or is missing.',
    remedy: 'Compare the fields in `differing`. If the patient is the same person, send the reason in `note`.',
  },
  UNMATCHED_ORDER_REQUIRED: {
    kind: 'refused',
    meaning: 'No order of the user can receive the unmatched result.',
    remedy: 'Send the order_id of an order with a patient at the lab of the result.',
  },
  UNASSIGNED_RESULT_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The queue of the operator has no such result. Another person may have assigned it.',
    remedy: 'List the results with GET /console/operator/unmatched_results.',
  },
  UNMATCHED_RESULT_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no such unmatched result, or it is no longer reviewable.',
    remedy: 'List the results with GET /v3/unmatched_result, and check allowed_actions.',
  },
  UNMATCHED_TEST_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no unmatched-result test with this ID.',
    remedy: 'Use the run_id of POST /v3/unmatched_result_test.',
  },
})

export const appointmentErrors = errors({
  APPOINTMENT_EXISTS: {
    kind: 'conflict',
    meaning: 'The order already has an active appointment.',
    remedy: 'Reschedule the appointment, or cancel it first.',
  },
  APPOINTMENT_NOT_FOUND: { kind: 'not_found', meaning: 'The order has no appointment.', remedy: 'Book one first.' },
  PARSING_JOB_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The team has no parsing job with this ID.',
    remedy: 'Send the id that POST /lab_report/v1/parser/job returned.',
  },
  TOO_MANY_PARSING_JOBS: {
    kind: 'too_many',
    meaning: 'The team has 50 lab reports that Assay has not parsed yet.',
    remedy: 'Wait for lab_report.parsing_job.updated, or for the seconds in Retry-After, and send the file again.',
  },
  AREA_NOT_SERVED: {
    kind: 'refused',
    meaning: 'The phlebotomy service does not visit patients at the address.',
    remedy: 'Choose a service that GET /v3/order/area/info lists for the ZIP code.',
  },
  BOOKING_KEY_INVALID: {
    kind: 'refused',
    meaning: 'booking_key does not name a slot for this kind of visit.',
    remedy: 'Send the booking_key of a free slot unchanged.',
  },
  CALENDAR_NOT_FOUND: {
    kind: 'not_found',
    meaning: 'The schedule has no calendar with this code.',
    remedy: 'List the calendars of the team with GET /v3/schedule.',
  },
  CALENDAR_TWICE: {
    kind: 'refused',
    meaning: 'Two calendars of the schedule have the same code.',
    remedy: 'Give each calendar its own code.',
  },
  MINOR_AT_HOME: {
    kind: 'refused',
    meaning: 'The patient is under 18, and phlebotomists visit only adults at home.',
    remedy: 'Choose another collection method.',
  },
  NOT_A_HOME_DRAW: {
    kind: 'not_found',
    meaning: 'The specimen of the order is not collected at home.',
    remedy: 'Book visits at home for at_home_phlebotomy orders only.',
  },
  NO_REQUISITION: {
    kind: 'refused',
    meaning: 'The lab has not accepted the order yet.',
    remedy: 'Wait for requisition_created, or turn on the team setting booking_before_requisition.',
  },
  NO_SLOTS: { kind: 'not_found', meaning: 'No slot is free at the collection sites.', remedy: 'Try later days, or other sites.' },
  PLACE_REQUIRED: {
    kind: 'refused',
    meaning: 'The request does not say where to look for slots.',
    remedy: 'Send one to three site_codes, or zip_code with radius.',
  },
  SLOT_TAKEN: {
    kind: 'refused',
    meaning: 'The slot is booked, past, or no longer offered.',
    remedy: 'List the free slots again and choose another.',
  },
  START_DATE_PASSED: { kind: 'refused', meaning: 'start_date has passed.', remedy: 'Send today or a later day.' },
  UNKNOWN_CANCELLATION_REASON: {
    kind: 'refused',
    meaning: 'No cancellation reason has this ID.',
    remedy: 'List the reasons for this kind of visit first.',
  },
  UNKNOWN_SITE: {
    kind: 'refused',
    meaning: 'The lab has no bookable collection site with this code.',
    remedy: 'Find sites with GET /v3/order/psc/info and the capability appointment_scheduling_via_junction.',
  },
  VISIT_ENDED: { kind: 'refused', meaning: 'The appointment is completed or canceled.', remedy: 'Book another one.' },
  VISIT_NOT_MOVABLE: {
    kind: 'refused',
    meaning: 'The visit has no time yet, has begun or has ended.',
    remedy: 'Reschedule only a booked visit that has not begun.',
  },
  VISIT_NOT_POSSIBLE: {
    kind: 'refused',
    meaning: 'The order or its appointment cannot take this step now.',
    remedy: 'Read the order and its appointment to see their status.',
  },
})
