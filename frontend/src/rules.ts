// Derivatives of common operations in symbols, by operation and argument: what the local Jacobian's entries are.

const RULES: Record<string, (string | null)[]> = {
  add: ["∂(a + b)/∂a = 1", "∂(a + b)/∂b = 1"],
  sub: ["∂(a − b)/∂a = 1", "∂(a − b)/∂b = −1"],
  mul: ["∂(a·b)/∂a = b", "∂(a·b)/∂b = a"],
  div: ["∂(a/b)/∂a = 1/b", "∂(a/b)/∂b = −a/b²"],
  pow: ["∂(aⁿ)/∂a = n·aⁿ⁻¹", "∂(aⁿ)/∂n = aⁿ·ln a"],
  neg: ["d(−a)/da = −1"],
  exp: ["d(eᵃ)/da = eᵃ"],
  log: ["d(ln a)/da = 1/a"],
  log1p: ["d(ln(1 + a))/da = 1/(1 + a)"],
  sqrt: ["d(√a)/da = 1/(2√a)"],
  rsqrt: ["d(1/√a)/da = −1/(2a√a)"],
  reciprocal: ["d(1/a)/da = −1/a²"],
  square: ["d(a²)/da = 2a"],
  sin: ["d(sin a)/da = cos a"],
  cos: ["d(cos a)/da = −sin a"],
  tan: ["d(tan a)/da = 1 + tan² a"],
  atan: ["d(atan a)/da = 1/(1 + a²)"],
  tanh: ["d(tanh a)/da = 1 − tanh² a"],
  sigmoid: ["d(σ(a))/da = σ(a)·(1 − σ(a))"],
  relu: ["d(relu a)/da = 1 where a > 0, else 0"],
  abs: ["d|a|/da = sign a"],
  softplus: ["d(softplus a)/da = σ(a)"],
  maximum: ["1 where a > b, ½ where equal, else 0", "1 where b > a, ½ where equal, else 0"],
  minimum: ["1 where a < b, ½ where equal, else 0", "1 where b < a, ½ where equal, else 0"],
  sum: ["every element counts once: ∂(Σa)/∂aᵢ = 1"],
  mean: ["∂(Σa/n)/∂aᵢ = 1/n"],
  prod: ["∂(Πa)/∂aᵢ = Πa/aᵢ"],
  matmul: ["out = A @ B: ∂out/∂A needs B, v goes back as v @ Bᵀ", "out = A @ B: ∂out/∂B needs A, v goes back as Aᵀ @ v"],
  mv: ["out = A @ b: v goes back as v ⊗ b", "out = A @ b: v goes back as Aᵀ @ v"],
  dot: ["∂(a·b)/∂aᵢ = bᵢ", "∂(a·b)/∂bᵢ = aᵢ"],
  select: ["1 for the element that was read, 0 for all others"],
  index: ["1 for each element that was read, 0 for all others"],
  setitem: ["1 where the old values stayed, 0 where they were overwritten", "1 where these values were written"],
  where: [null, "1 where the condition holds, else 0", "1 where the condition fails, else 0"],
  clamp: ["1 inside the limits, 0 outside"],
  softmax: ["∂sᵢ/∂aⱼ = sᵢ·([i = j] − sⱼ)"],
  log_softmax: ["∂ log sᵢ/∂aⱼ = [i = j] − sⱼ"],
};

const MOVES = "view reshape transpose permute t squeeze unsqueeze flatten clone expand movedim alias".split(" ");

/** The rule of an operation for one of its arguments, or null for an operation that is not in the list. */
export function symbols(op: string | null, input: number): string | null {
  if (op === null) return null;
  if (MOVES.includes(op)) return "the elements only move: 1 from where each lay to where it lies";
  return RULES[op === "mm" ? "matmul" : op]?.[input] ?? null;
}
