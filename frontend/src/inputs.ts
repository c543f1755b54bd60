// Which values of a call may be changed.
import { reals, type Arr, type Call } from "./trace";

/** The value at a place: the tensors of the call come first, then its constants. */
export function arrayAt(call: Call, place: number): Arr | null {
  return place < call.tensors.length ? call.tensors[place]!.data : (call.account?.constants[place - call.tensors.length]?.value ?? null);
}

/** Leaves, and constants that the program has given, if all their numbers are there. */
export function changeable(call: Call): ReadonlySet<number> {
  if (!call.account || call.account.why) return new Set();
  const given = (place: number) => call.tensors[place]?.is_leaf ?? call.account!.constants[place - call.tensors.length]!.given;
  const places = Array.from({ length: call.tensors.length + call.account.constants.length }, (_, place) => place);
  return new Set(places.filter((place) => given(place) && reals(arrayAt(call, place) ?? {})));
}
