//! A Pratt parser: each operator binds what stands left and right of it by its strength.
//!
//! The result is a list of steps for a stack machine, so that neither evaluating nor dropping a long expression recurses.

use super::super::math::{modulo, sign};
use super::ExpressionError;

/// Parentheses, signs and powers within each other; guards the stack.
const DEEPEST: usize = 100;

/// A parsed expression.
#[derive(Debug)]
pub(super) struct Parsed(Vec<Step>);

#[derive(Clone, Copy, Debug)]
struct Step {
    column: usize,
    op: Op,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Push(f64),
    Input(usize),
    Negate,
    Not,
    Binary(Binary),
    Call(Function, usize),
    /// Takes the top; goes on at this step if it is 0.
    JumpIfZero(usize),
    Jump(usize),
    /// The top becomes 1 or 0.
    Truth,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Power,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Operators by their spelling, longer ones first, with the strength to their left and right.
const BINARY: [(&str, Binary, u8, u8); 12] = [
    ("==", Binary::Equal, 7, 8),
    ("!=", Binary::NotEqual, 7, 8),
    ("<=", Binary::LessOrEqual, 9, 10),
    (">=", Binary::GreaterOrEqual, 9, 10),
    ("<", Binary::Less, 9, 10),
    (">", Binary::Greater, 9, 10),
    ("+", Binary::Add, 11, 12),
    ("-", Binary::Subtract, 11, 12),
    ("*", Binary::Multiply, 13, 14),
    ("/", Binary::Divide, 13, 14),
    ("%", Binary::Modulo, 13, 14),
    ("^", Binary::Power, 18, 17),
];
const TERNARY: u8 = 1;
const OR: (u8, u8) = (3, 4);
const AND: (u8, u8) = (5, 6);
const SIGN: u8 = 15;

type Function = fn(&[f64]) -> f64;

/// Functions by name, with their count of arguments; `None` for one or more.
const FUNCTIONS: [(&str, Option<usize>, Function); 28] = [
    ("sin", Some(1), |x| x[0].to_radians().sin()),
    ("cos", Some(1), |x| x[0].to_radians().cos()),
    ("tan", Some(1), |x| x[0].to_radians().tan()),
    ("asin", Some(1), |x| x[0].asin().to_degrees()),
    ("acos", Some(1), |x| x[0].acos().to_degrees()),
    ("atan", Some(1), |x| x[0].atan().to_degrees()),
    ("atan2", Some(2), |x| x[0].atan2(x[1]).to_degrees()),
    ("sqrt", Some(1), |x| x[0].sqrt()),
    ("exp", Some(1), |x| x[0].exp()),
    ("ln", Some(1), |x| x[0].ln()),
    ("log2", Some(1), |x| x[0].log2()),
    ("log10", Some(1), |x| x[0].log10()),
    ("pow", Some(2), |x| x[0].powf(x[1])),
    ("hypot", Some(2), |x| x[0].hypot(x[1])),
    ("abs", Some(1), |x| x[0].abs()),
    ("sign", Some(1), |x| sign(x[0])),
    ("floor", Some(1), |x| x[0].floor()),
    ("ceil", Some(1), |x| x[0].ceil()),
    ("round", Some(1), |x| x[0].round()),
    ("fract", Some(1), |x| x[0] - x[0].floor()),
    ("mod", Some(2), |x| modulo(x[0], x[1])),
    ("min", None, |x| x.iter().copied().fold(f64::INFINITY, f64::min)),
    ("max", None, |x| x.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
    ("clamp", Some(3), |x| x[0].min(x[2]).max(x[1])),
    ("lerp", Some(3), |x| x[0] + (x[1] - x[0]) * x[2]),
    ("smoothstep", Some(3), |x| {
        let t = ((x[2] - x[0]) / (x[1] - x[0])).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    }),
    ("radians", Some(1), |x| x[0].to_radians()),
    ("degrees", Some(1), |x| x[0].to_degrees()),
];

/// Parses an expression whole.
pub(super) fn parse(text: &str) -> Result<Parsed, ExpressionError> {
    let mut parser = Parser { text: text.chars().collect(), at: 0, depth: 0, steps: Vec::new() };
    parser.operand(0)?;
    match parser.rest().next() {
        None => Ok(Parsed(parser.steps)),
        Some(c) => Err(parser.error(format!("an operator is expected before {:?}", c.to_string()))),
    }
}

struct Parser {
    text: Vec<char>,
    at: usize,
    depth: usize,
    steps: Vec<Step>,
}

impl Parser {
    fn error(&self, what: impl Into<String>) -> ExpressionError {
        ExpressionError { column: self.at + 1, what: what.into() }
    }

    fn rest(&self) -> std::iter::Copied<std::slice::Iter<'_, char>> {
        self.text[self.at..].iter().copied()
    }

    fn skip_spaces(&mut self) {
        self.at += self.rest().take_while(|c| c.is_whitespace()).count();
    }

    /// Whether `symbol` stands here.
    fn sees(&self, symbol: &str) -> bool {
        self.rest().take(symbol.len()).eq(symbol.chars())
    }

    fn take(&mut self, symbol: &str) -> bool {
        let seen = self.sees(symbol);
        if seen {
            self.at += symbol.len();
            self.skip_spaces();
        }
        seen
    }

    fn expect(&mut self, symbol: &str) -> Result<(), ExpressionError> {
        if self.take(symbol) { Ok(()) } else { Err(self.error(format!("{symbol} is expected"))) }
    }

    fn push(&mut self, column: usize, op: Op) -> usize {
        self.steps.push(Step { column, op });
        self.steps.len() - 1
    }

    /// Points a jump to the next step.
    fn land(&mut self, jump: usize) {
        let here = self.steps.len();
        match &mut self.steps[jump].op {
            Op::Jump(to) | Op::JumpIfZero(to) => *to = here,
            _ => {}
        }
    }

    /// Parses what binds at least as strongly as `least`.
    fn operand(&mut self, least: u8) -> Result<(), ExpressionError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.error("this is nested too deeply"));
        }
        self.skip_spaces();
        self.prefix()?;
        while self.infix(least)? {}
        self.depth -= 1;
        Ok(())
    }

    fn prefix(&mut self) -> Result<(), ExpressionError> {
        let column = self.at + 1;
        if self.take("(") {
            self.operand(0)?;
            return self.expect(")");
        }
        if self.take("+") {
            return self.operand(SIGN);
        }
        for (symbol, op) in [("-", Op::Negate), ("!", Op::Not)] {
            if self.take(symbol) {
                self.operand(SIGN)?;
                self.push(column, op);
                return Ok(());
            }
        }
        match self.rest().next() {
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            _ => Err(self.error("a number, a name or ( is expected")),
        }
    }

    fn number(&mut self) -> Result<(), ExpressionError> {
        let mut last = ' ';
        let part = |&c: &char| {
            let sign_of_exponent = matches!(c, '+' | '-') && matches!(last, 'e' | 'E');
            last = c;
            c.is_ascii_digit() || c == '.' || matches!(c, 'e' | 'E') || sign_of_exponent
        };
        let word: String = self.rest().take_while(part).collect();
        let value = match word.parse::<f64>() {
            Ok(value) if value.is_finite() => value,
            _ => return Err(self.error(format!("{word:?} is not a number"))),
        };
        self.push(self.at + 1, Op::Push(value));
        self.at += word.len();
        self.skip_spaces();
        Ok(())
    }

    fn name(&mut self) -> Result<(), ExpressionError> {
        let column = self.at + 1;
        let wrong = |what: String| Err(ExpressionError { column, what });
        let word: String = self.rest().take_while(|&c| c.is_alphanumeric() || c == '_').collect();
        self.at += word.chars().count();
        self.skip_spaces();
        if self.take("(") {
            let function = FUNCTIONS.iter().find(|function| function.0 == word);
            let Some(&(_, arity, function)) = function else {
                return wrong(format!("there is no function {word:?}"));
            };
            let mut count = 0;
            if !self.take(")") {
                loop {
                    self.operand(0)?;
                    count += 1;
                    if !self.take(",") {
                        break;
                    }
                }
                self.expect(")")?;
            }
            match arity {
                Some(arity) if arity != count => {
                    let plural = if arity == 1 { "argument" } else { "arguments" };
                    return wrong(format!("{word} takes {arity} {plural}, not {count}"));
                }
                None if count == 0 => return wrong(format!("{word} takes 1 argument or more, not 0")),
                _ => self.push(column, Op::Call(function, count)),
            };
            return Ok(());
        }
        let op = match word.as_str() {
            "a" => Op::Input(0),
            "b" => Op::Input(1),
            "c" => Op::Input(2),
            "d" => Op::Input(3),
            "pi" => Op::Push(std::f64::consts::PI),
            "tau" => Op::Push(std::f64::consts::TAU),
            "e" => Op::Push(std::f64::consts::E),
            _ => return wrong(format!("{word:?} is not known")),
        };
        self.push(column, op);
        Ok(())
    }

    /// Parses one operator and its right side; `false` if none stands here that binds strongly enough.
    fn infix(&mut self, least: u8) -> Result<bool, ExpressionError> {
        let column = self.at + 1;
        if self.sees("?") && TERNARY >= least {
            self.take("?");
            let condition = self.push(column, Op::JumpIfZero(0));
            self.operand(0)?;
            self.expect(":")?;
            let end = self.push(column, Op::Jump(0));
            self.land(condition);
            self.operand(TERNARY)?;
            self.land(end);
            return Ok(true);
        }
        for (symbol, (left, right)) in [("||", OR), ("&&", AND)] {
            if self.sees(symbol) {
                if left < least {
                    return Ok(false);
                }
                self.take(symbol);
                let jump = self.push(column, Op::JumpIfZero(0));
                if symbol == "||" {
                    // True: 1 without the right side. False: what the right side says.
                    self.push(column, Op::Push(1.0));
                    let end = self.push(column, Op::Jump(0));
                    self.land(jump);
                    self.operand(right)?;
                    self.push(column, Op::Truth);
                    self.land(end);
                } else {
                    self.operand(right)?;
                    self.push(column, Op::Truth);
                    let end = self.push(column, Op::Jump(0));
                    self.land(jump);
                    self.push(column, Op::Push(0.0));
                    self.land(end);
                }
                return Ok(true);
            }
        }
        let Some(&(symbol, op, left, right)) = BINARY.iter().find(|entry| self.sees(entry.0)) else {
            return Ok(false);
        };
        if left < least {
            return Ok(false);
        }
        self.take(symbol);
        self.operand(right)?;
        self.push(column, Op::Binary(op));
        Ok(true)
    }
}

impl Parsed {
    /// The value for these inputs; an error names the column of what divides by 0 or leaves the finite numbers.
    pub(super) fn value(&self, inputs: &[f64; 4]) -> Result<f64, ExpressionError> {
        let mut stack: Vec<f64> = Vec::new();
        let mut at = 0;
        while let Some(&Step { column, op }) = self.0.get(at) {
            at += 1;
            let fail = |what: &str| Err(ExpressionError { column, what: what.into() });
            // The parser leaves every step its operands.
            let mut pop = || stack.pop().unwrap_or(f64::NAN);
            let value = match op {
                Op::Push(value) => value,
                Op::Input(k) => inputs[k],
                Op::Negate => -pop(),
                Op::Not => f64::from(u8::from(pop() == 0.0)),
                Op::Truth => f64::from(u8::from(pop() != 0.0)),
                Op::Jump(to) => {
                    at = to;
                    continue;
                }
                Op::JumpIfZero(to) => {
                    if pop() == 0.0 {
                        at = to;
                    }
                    continue;
                }
                Op::Call(function, count) => {
                    let from = stack.len().saturating_sub(count);
                    let value = function(&stack[from..]);
                    stack.truncate(from);
                    value
                }
                Op::Binary(op) => {
                    let (right, left) = (pop(), pop());
                    if matches!(op, Binary::Divide | Binary::Modulo) && right == 0.0 {
                        return fail("division by 0");
                    }
                    binary(op, left, right)
                }
            };
            if !value.is_finite() {
                return fail("the result is not a finite number");
            }
            stack.push(value);
        }
        Ok(stack.pop().unwrap_or(f64::NAN))
    }
}

fn binary(op: Binary, a: f64, b: f64) -> f64 {
    let truth = |holds: bool| f64::from(u8::from(holds));
    match op {
        Binary::Add => a + b,
        Binary::Subtract => a - b,
        Binary::Multiply => a * b,
        Binary::Divide => a / b,
        Binary::Modulo => modulo(a, b),
        Binary::Power => a.powf(b),
        Binary::Equal => truth(a == b),
        Binary::NotEqual => truth(a != b),
        Binary::Less => truth(a < b),
        Binary::LessOrEqual => truth(a <= b),
        Binary::Greater => truth(a > b),
        Binary::GreaterOrEqual => truth(a >= b),
    }
}
